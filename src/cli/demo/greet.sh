#!/bin/sh
# Greets the person that is named.
name=${1:-world}
echo "Hello, $name!"
