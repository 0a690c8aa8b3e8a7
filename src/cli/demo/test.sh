#!/bin/sh
# The tests of this project: nothing but sh is needed.
set -eu
[ "$(sh ./greet.sh)" = "Hello, world!" ]
[ "$(sh ./greet.sh Ada)" = "Hello, Ada!" ]
for extra in tests/*.sh; do
    if [ -e "$extra" ]; then sh "$extra"; fi
done
echo "all greetings are right"
