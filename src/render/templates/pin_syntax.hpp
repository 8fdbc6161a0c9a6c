// What may stand in a pin: the allow-list for text that comes from a lock file or out of a container (private
// to src/render).
#pragma once

#include <string_view>

#include "base/sha256.hpp"

namespace cudamatrix {

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
