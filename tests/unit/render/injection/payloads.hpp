// Values that try to be more than values.
#pragma once

#include <string>
#include <vector>

inline const std::vector<std::string>& hostile_values() {
    using namespace std::string_literals;
    static const std::vector<std::string> values{
        // line ends and controls
        "a\nRUN touch /pwned", "a\r\nUSER root", "a\rRUN x", "\n", "a\n", "\nFROM scratch", "a\\\nRUN x",
        "a\0b"s, "a\x1b[31mb", "a\tb",
        "a\x7f"
        "b",
        "a\vb", "a\fb", "\x01", "a\xc2\x85RUN x", "a\xe2\x80\xa8RUN x", "a\xe2\x80\xa9RUN x",
        "a\xe2\x80\xae"
        "b",
        "a\xef\xbb\xbf"
        "b",
        "\xff\xfe", "\xc0\x80", "\xed\xa0\x80",
        "a\xe2\x80\x8b"
        "b",
        // quotes and escapes
        "\"", "'", "\\", "a\\", "\\\\", "\"\\", "\\\"", "'\\''", "a\" b=\"c", "a' 'b", "\" LABEL x=\"y",
        "'; touch /pwned; '", "\\\"; x", "\\'", "a'b\"c\\d", "''", "\"\"", "`", "\\n", "\\x0a", "\\u000a",
        // the shell
        "$(touch /pwned)", "`touch /pwned`", "${HOME}", "$HOME", "$", "$$", "$$$", "${x:-$(id)}",
        "a; touch /pwned", "a && b", "a || b", "a | b", "a > /etc/passwd", "a < b", "a & b", "(a)", "{a,b}",
        "*", "?", "[a]", "~", "~root/x", "!!", "#", "# comment", " # x", "a #b", "-x",
        "--mount=type=bind,source=/,target=/host", "--security=insecure", "--network=host", "-o APT::X=y",
        "--no-require-hashes", "<<EOF", "<<-EOF", "a <<EOF", "3<<x", "A=B", "=", "a=b", "exec", "if", "!",
        // Dockerfile and pip
        "# syntax=evil/frontend", "# escape=`", "syntax=evil/frontend", "escape=`", "RUN x", "FROM scratch",
        "ONBUILD RUN x", "https://example.org/x.tar", "git@example.org:x/y.git", "http://x", "//x", "../x",
        "../../etc/passwd", "/etc/../x", "..", ".", "/", "a/../b", "a b", " a", "a ", "  ", "--hash=sha256:0",
        "-r /etc/passwd", "-e .", "--index-url=https://example.org", "a; python_version<'4'",
        "a @ https://example.org/x.whl", "a[extra]", "a,b", "a==1", "a>=1",
        // YAML, JSON, compose, Mustache
        "a: b", "- a", "a: [", "{", "}", "]", "&a b", "*a", "!!python/object:x", "| x", "> x", "%YAML 1.1",
        "---", "...", "null", "true", "no", "1e3", "0x1", "key: \"x\"\nother: y", "${VAR}", "${VAR:-x}",
        "$${VAR}", "{{ name | arg }}", "{{> ca_mount }}", "{{/ header }}", "}}", "{{", "{{! x",
        // more line ends, invisible and bidirectional characters
        "a\u2060b", "a\u200fb", "a\u2066b\u2069", "\xf3\xa0\x81\x81",
        "a\xef\xbf\xbe"
        "b",
        "\xf4\x90\x80\x80", "a\n\n\nb", "a\n# b", "a\b\b\bb", "\x1b]0;x\x07",
        // more of builders, pip, apt, compose and the shell
        "COPY --from=evil / /", "ADD https://example.org/x /", "--chown=0:0", "--from=evil",
        "--platform=linux/s390x", "HEALTHCHECK NONE", "SHELL [\"/bin/evil\"]", "VOLUME /", "base AS evil",
        "scratch\\", "$BASH_ENV", "%s%n", "-", "--", "a\\ b", "a=b c=d",
        "--extra-index-url https://example.org", "a --no-deps", "a # c", "-f https://example.org",
        "git+https://example.org/x", "./x.whl", "gcc=1;x", "gcc/stretch", "gcc-", "gcc+", "? a", "@x",
        "a:\tb", "!include x", "<<: *a", "0:0", "12:30:45", "{{=<% %>=}}", "{{{ name }}}", "{{& name }}",
        "}} | raw",
        // long, empty, other scripts
        "", std::string(5000, 'A'), std::string(300, '\''), std::string(300, '\\'), "\xc3\xa4\xc3\xb6",
        "\xe6\xbc\xa2", "\xf0\x9f\x98\x80"};
    return values;
}
