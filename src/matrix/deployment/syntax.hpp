// The grammars of the values of services (private to src/matrix), and which folders of an image belong to its
// system.
#pragma once

#include <string>
#include <string_view>

#include "matrix/deployment/services.hpp"

namespace cudamatrix {

/// Whether the owner of `path` (absolute, of plain steps) may not change: named volumes and the working
/// folder are the user's.
[[nodiscard]] bool is_system_folder(std::string_view path);

/// Whether what lies at `path` decides what code runs, and as whom: the loader, programs, libraries,
/// accounts. Configuration (/etc/app.toml) and programs of the site (/usr/local/bin/app) do not.
[[nodiscard]] bool is_system_file(std::string_view path);

}  // namespace cudamatrix

namespace cudamatrix::service_syntax {

/// A word of a command: any printable text of up to 1024 bytes, also an empty one.
[[nodiscard]] bool is_argument(std::string_view text);
/// "0", "GPU-3a1c...", "MIG-...": what nvidia-smi calls a device.
[[nodiscard]] bool is_device(std::string_view text);
/// "all", or a number up to 64.
[[nodiscard]] bool is_gpu_count(std::string_view text);
/// "8g", "512m", "65536k".
[[nodiscard]] bool is_size(std::string_view text);
/// "65536", "-1".
[[nodiscard]] bool is_limit(std::string_view text);
/// Whether `soft` is at most `hard`; -1 is above every number. Both are limits.
[[nodiscard]] bool in_order(std::string_view soft, std::string_view hard);
/// "500ms", "30s", "2m", "1h".
[[nodiscard]] bool is_duration(std::string_view text);
[[nodiscard]] bool is_retries(std::string_view text);
[[nodiscard]] bool is_restart(std::string_view text);

/// "cache:/cache", "./data:/data:ro".
[[nodiscard]] bool is_volume(std::string_view text);
/// The parts of a text that is_volume accepts.
[[nodiscard]] Service::Volume volume_of(std::string_view text);

/// "8080" (the container's alone), "8080:80", "127.0.0.1:8080:80", each also with /tcp or /udp.
[[nodiscard]] bool is_port(std::string_view text);
/// What a text that is_port accepts takes of the host: "8080", "127.0.0.1:8080", "53/udp"; empty: a free
/// port.
[[nodiscard]] std::string host_port(std::string_view text);

}  // namespace cudamatrix::service_syntax
