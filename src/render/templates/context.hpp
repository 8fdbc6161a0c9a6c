// How a value is written where it lands. Every value in a template names its context, so that no text can
// become anything but a value: it is escaped, or refused.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/sha256.hpp"

namespace cudamatrix::mustache {

enum class Context {
    env,          ///< value of ENV or ARG: double-quoted, nothing expands
    label,        ///< name or value of LABEL: the same
    arg,          ///< one word of a command in RUN: bare where it is harmless, else in single quotes
    json,         ///< a JSON string: the exec form of CMD and ENTRYPOINT
    yaml,         ///< a double-quoted YAML scalar in which compose interpolates nothing
    yaml_key,     ///< the same as the key of a map
    raw_comment,  ///< the rest of a comment line
    path,         ///< a path or name that stands bare in an instruction
    yaml_int,     ///< a whole number of YAML: -1, 65536
    word,         ///< a name, version or digest that stands bare: [A-Za-z0-9_][A-Za-z0-9_.+!-]*
    image,        ///< a base with registry, tag and perhaps digest that stands bare in FROM
    ident,        ///< the name of a variable: [A-Za-z_][A-Za-z0-9_]*
};

[[nodiscard]] std::optional<Context> context_named(std::string_view name);
[[nodiscard]] std::string_view to_string(Context context);
[[nodiscard]] const std::vector<std::string>& context_names();

/// Why a value cannot be written in a context: "a control character", "an empty path" ...
struct Refused {
    std::string why;
};

/// `value` as it is written in `context`. Control characters, line ends, invalid UTF-8 and characters that
/// change the direction of text are refused everywhere.
[[nodiscard]] std::variant<std::string, Refused> escape(std::string_view value, Context context);

}  // namespace cudamatrix::mustache

namespace cudamatrix {

// What may stand in a pin: the allow-list for text that comes from a lock file or out of a container.

[[nodiscard]] bool is_apt_package(std::string_view text);    ///< [a-z0-9][a-z0-9+.-]*
[[nodiscard]] bool is_apt_version(std::string_view text);    ///< [0-9A-Za-z][0-9A-Za-z.+:~-]*
[[nodiscard]] bool is_rpm_package(std::string_view text);    ///< [0-9A-Za-z][0-9A-Za-z+._-]*
[[nodiscard]] bool is_rpm_version(std::string_view text);    ///< EPOCH:VERSION-RELEASE.ARCH
[[nodiscard]] bool is_wheel_name(std::string_view text);     ///< normalised: [a-z0-9]+(-[a-z0-9]+)*
[[nodiscard]] bool is_wheel_version(std::string_view text);  ///< [0-9][0-9a-z.+!]*
/// http(s)://HOST/PATH.whl, without user, query and fragment.
[[nodiscard]] bool is_wheel_url(std::string_view text);
/// In canonical form, with a registry and a tag and without a digest: "docker.io/nvidia/cuda:TAG".
[[nodiscard]] bool is_tag_reference(std::string_view text);

}  // namespace cudamatrix
