#!/bin/sh
# clang-format over our sources, and the rules for them that grep can check. Usage: format.sh SOURCE_DIR
set -eu
cd "$1"
git ls-files --cached --others --exclude-standard 'src/*.cpp' 'src/*.hpp' 'tests/*.cpp' 'tests/*.hpp' 'kernels/*.cpp' 'kernels/*.hpp' \
    | xargs -P 2 -n 200 clang-format --dry-run -Werror
# The program never runs a shell.
if git grep -nE '"(/bin/)?(ba|da)?sh"[^;]*"-c"|\bsystem\(|\bpopen\(' -- src kernels; then
    echo "format: the program must not use a shell" >&2
    exit 1
fi
# What the program says leaves it in one place, where a stream that takes no more ends nothing. The C program is one of a proof.
if git grep -nE 'fmt::print\(|std::(cout|cerr|clog)\b|\b(f?puts|f?putc|putchar|fwrite|f?printf)\(' -- src \
    ':!src/commands/streams.cpp' ':!src/**/embed/*' ':!src/run/prove/rejection_attempt.cpp'; then
    echo "format: say it by print() or tell() of src/commands/streams.hpp" >&2
    exit 1
fi
