//! The shapes of known tokens, as data: one line each.

/// Characters that the body of a token is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Alphabet {
    /// Letters and digits.
    Alnum,
    /// Capital letters and digits.
    Upper,
    /// Lower-case hexadecimal digits.
    Hex,
    /// Letters, digits, `-` and `_`.
    Url,
    /// Letters, digits, `-`, `_` and `.`.
    Dotted,
    /// Base64 with `+`, `/` and `=`.
    Base64,
}

/// One kind of token.
#[derive(Debug)]
pub(super) struct Kind {
    /// For people, without article.
    pub name: &'static str,
    /// What it begins with.
    pub prefix: &'static str,
    /// What follows.
    pub alphabet: Alphabet,
    /// Least number of characters after the prefix.
    pub least: usize,
    /// Most; a longer run of the alphabet is something else.
    pub most: usize,
}

const fn kind(
    name: &'static str,
    prefix: &'static str,
    alphabet: Alphabet,
    least: usize,
    most: usize,
) -> Kind {
    Kind { name, prefix, alphabet, least, most }
}

use Alphabet::{Alnum, Base64, Dotted, Hex, Upper, Url};

/// All kinds. Of two that fit at one place the first counts: longer prefixes stand before shorter ones.
pub(super) const KINDS: &[Kind] = &[
    kind("AWS access key id", "AKIA", Upper, 16, 16),
    kind("AWS temporary access key id", "ASIA", Upper, 16, 16),
    kind("AWS bearer key id", "ABIA", Upper, 16, 16),
    kind("GitHub fine-grained token", "github_pat_", Url, 50, 120),
    kind("GitHub token", "ghp_", Alnum, 36, 251),
    kind("GitHub OAuth token", "gho_", Alnum, 36, 251),
    kind("GitHub user token", "ghu_", Alnum, 36, 251),
    kind("GitHub server token", "ghs_", Dotted, 36, 1024),
    kind("GitHub refresh token", "ghr_", Alnum, 36, 251),
    kind("GitLab token", "glpat-", Dotted, 20, 300),
    kind("GitLab deploy token", "gldt-", Url, 20, 64),
    kind("GitLab runner token", "glrt-", Dotted, 20, 300),
    kind("GitLab trigger token", "glptt-", Url, 20, 64),
    kind("GitLab job token", "glcbt-", Url, 20, 64),
    kind("Slack bot token", "xoxb-", Url, 24, 256),
    kind("Slack user token", "xoxp-", Url, 24, 256),
    kind("Slack app token", "xapp-", Url, 24, 256),
    kind("Slack refresh token", "xoxe-", Url, 24, 256),
    kind("Slack workspace token", "xoxa-", Url, 24, 256),
    kind("Stripe live key", "sk_live_", Alnum, 16, 128),
    kind("Stripe restricted key", "rk_live_", Alnum, 16, 128),
    kind("Stripe webhook secret", "whsec_", Base64, 24, 128),
    kind("Anthropic key", "sk-ant-", Url, 32, 200),
    kind("OpenAI project key", "sk-proj-", Url, 32, 220),
    kind("OpenAI service key", "sk-svcacct-", Url, 32, 220),
    kind("OpenAI admin key", "sk-admin-", Url, 32, 220),
    kind("OpenRouter key", "sk-or-v1-", Hex, 48, 80),
    kind("OpenAI key", "sk-", Alnum, 40, 64),
    kind("Google API key", "AIza", Url, 35, 35),
    kind("Google OAuth secret", "GOCSPX-", Url, 28, 28),
    kind("Google OAuth token", "ya29.", Url, 40, 1024),
    kind("npm token", "npm_", Alnum, 36, 36),
    kind("PyPI token", "pypi-AgE", Url, 50, 512),
    kind("crates.io token", "cio", Alnum, 32, 32),
    kind("RubyGems key", "rubygems_", Hex, 48, 48),
    kind("Docker token", "dckr_pat_", Url, 27, 36),
    kind("Docker organization token", "dckr_oat_", Url, 27, 40),
    kind("Hugging Face token", "hf_", Alnum, 34, 40),
    kind("DigitalOcean token", "dop_v1_", Hex, 64, 64),
    kind("DigitalOcean OAuth token", "doo_v1_", Hex, 64, 64),
    kind("SendGrid key", "SG.", Dotted, 60, 70),
    kind("Shopify token", "shpat_", Hex, 32, 32),
    kind("Shopify shared secret", "shpss_", Hex, 32, 32),
    kind("Square token", "sq0atp-", Url, 22, 60),
    kind("Square secret", "sq0csp-", Url, 40, 60),
    kind("Vault token", "hvs.", Url, 24, 200),
    kind("Vault batch token", "hvb.", Url, 100, 400),
    kind("Databricks token", "dapi", Hex, 32, 32),
    kind("Linear key", "lin_api_", Alnum, 40, 40),
    kind("Notion token", "ntn_", Alnum, 40, 50),
    kind("Postman key", "PMAK-", Url, 50, 64),
    kind("Doppler token", "dp.pt.", Alnum, 40, 44),
    kind("New Relic key", "NRAK-", Upper, 27, 27),
    kind("Grafana token", "glsa_", Url, 40, 48),
    kind("Grafana cloud token", "glc_", Base64, 40, 400),
    kind("Pulumi token", "pul-", Hex, 40, 40),
    kind("PlanetScale token", "pscale_tkn_", Dotted, 32, 64),
    kind("Supabase token", "sbp_", Hex, 40, 40),
    kind("Figma token", "figd_", Url, 36, 60),
    kind("Replicate token", "r8_", Alnum, 37, 40),
    kind("Groq key", "gsk_", Alnum, 48, 60),
    kind("xAI key", "xai-", Alnum, 70, 90),
    kind("Perplexity key", "pplx-", Alnum, 40, 64),
    kind("Tailscale key", "tskey-", Url, 20, 80),
    kind("1Password service token", "ops_eyJ", Base64, 100, 2048),
    kind("age secret key", "AGE-SECRET-KEY-1", Upper, 58, 58),
];
