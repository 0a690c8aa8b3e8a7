//! Arithmetic on known integers.

/// Nesting of parentheses and of variables that name variables.
const DEPTH: usize = 16;

/// The value of an expression whose variables are known. `None` if it is not known, or not arithmetic.
pub(super) fn evaluate(text: &str, variable: &dyn Fn(&str) -> Option<String>) -> Option<i64> {
    evaluate_below(text, variable, 0)
}

fn evaluate_below(text: &str, variable: &dyn Fn(&str) -> Option<String>, depth: usize) -> Option<i64> {
    if depth > DEPTH || text.len() > 256 {
        return None;
    }
    let mut state = State { rest: text.trim(), variable, depth };
    if state.rest.is_empty() {
        return Some(0);
    }
    let value = state.sum()?;
    state.rest.trim().is_empty().then_some(value)
}

/// Names that the expression assigns to.
pub(super) fn assigned(text: &str, found: &mut dyn FnMut(&str)) {
    let bytes = text.as_bytes();
    let is_word = |byte: u8| byte == b'_' || byte.is_ascii_alphanumeric();
    let mut index = 0;
    while let Some(byte) = bytes.get(index) {
        if !is_word(*byte) {
            index += 1;
            continue;
        }
        let length = bytes.iter().skip(index).take_while(|byte| is_word(**byte)).count();
        let name = text.get(index..index + length).unwrap_or_default();
        let before = text.get(..index).unwrap_or_default().trim_end();
        let after = text.get(index + length..).unwrap_or_default().trim_start();
        let stepped = before.ends_with("++") || before.ends_with("--");
        let operator = after.trim_start_matches(['+', '-', '*', '/', '%', '<', '>', '&', '^', '|']);
        let is_set = operator.starts_with('=')
            && !operator.starts_with("==")
            && !after.starts_with("<=")
            && !after.starts_with(">=");
        if super::expand::is_name(name)
            && (stepped
                || is_set
                || after.starts_with("++")
                || after.starts_with("--")
                || after.starts_with('['))
        {
            found(name);
        }
        index += length;
    }
}

struct State<'t> {
    rest: &'t str,
    variable: &'t dyn Fn(&str) -> Option<String>,
    depth: usize,
}

impl State<'_> {
    fn take(&mut self, operators: &[&str]) -> Option<usize> {
        self.rest = self.rest.trim_start();
        for (index, operator) in operators.iter().enumerate() {
            if let Some(rest) = self.rest.strip_prefix(operator) {
                // `+=`, `++`, `**` and the like are left to "not known".
                if *operator != "(" && (rest.starts_with('=') || rest.starts_with(operator)) {
                    return None;
                }
                self.rest = rest;
                return Some(index);
            }
        }
        None
    }

    fn sum(&mut self) -> Option<i64> {
        let mut value = self.product()?;
        while let Some(operator) = self.take(&["+", "-"]) {
            let right = self.product()?;
            value = if operator == 0 { value.wrapping_add(right) } else { value.wrapping_sub(right) };
        }
        Some(value)
    }

    fn product(&mut self) -> Option<i64> {
        let mut value = self.factor()?;
        while let Some(operator) = self.take(&["*", "/", "%"]) {
            let right = self.factor()?;
            value = match operator {
                0 => value.wrapping_mul(right),
                1 => value.checked_div(right)?,
                _ => value.checked_rem(right)?,
            };
        }
        Some(value)
    }

    fn factor(&mut self) -> Option<i64> {
        self.depth += 1;
        if self.depth > DEPTH {
            return None;
        }
        let value = match self.take(&["-", "+", "("]) {
            Some(0) => self.factor()?.checked_neg()?,
            Some(1) => self.factor()?,
            Some(_) => {
                let value = self.sum()?;
                self.rest = self.rest.trim_start().strip_prefix(')')?;
                value
            }
            None => self.atom()?,
        };
        self.depth -= 1;
        Some(value)
    }

    fn atom(&mut self) -> Option<i64> {
        self.rest = self.rest.trim_start();
        let length =
            self.rest.bytes().take_while(|byte| *byte == b'_' || byte.is_ascii_alphanumeric()).count();
        let (word, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        if super::expand::is_name(word) {
            return evaluate_below(&(self.variable)(word)?, self.variable, self.depth + 1);
        }
        if let Some(hex) = word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")) {
            return i64::from_str_radix(hex, 16).ok();
        }
        match word.strip_prefix('0') {
            Some(octal) if !octal.is_empty() => i64::from_str_radix(octal, 8).ok(),
            _ => word.parse().ok(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{assigned, evaluate};

    #[test]
    fn constants_are_computed() {
        let none = |_: &str| None;
        assert_eq!(evaluate("1 + 2*3", &none), Some(7));
        assert_eq!(evaluate("(1+2)*-3", &none), Some(-9));
        assert_eq!(evaluate("0x10 + 010", &none), Some(24));
        assert_eq!(evaluate("1/0", &none), None);
        assert_eq!(evaluate("x+1", &|_| Some("4".to_owned())), Some(5));
        assert_eq!(evaluate("x", &|_| Some("x".to_owned())), None);
    }

    #[test]
    fn assignments_are_seen() {
        let mut names = Vec::new();
        assigned("a=1, b==2, c+=3, d++, --e, f<=2, g[1]=2", &mut |name| names.push(name.to_owned()));
        assert_eq!(names, ["a", "c", "d", "e", "g"]);
    }
}
