// THE list of what `emit` writes for. A new consumer is one writer, in a file of its own, and one row.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "emit/pipeline.hpp"
#include "render/output/output_folder.hpp"

namespace cudamatrix::emit {

struct Emitter {
    std::string_view name;
    Result<std::vector<Artifact>> (*write)(
        const Input&);      ///< files with plain names, the one to begin with first
    std::string_view next;  ///< what to do with them
    bool has_tasks = true;  ///< false: of images alone
    bool waits = false;     ///< tasks wait for those that make what they share: it wants Input::shared
};

[[nodiscard]] std::span<const Emitter> all_emitters();
[[nodiscard]] const Emitter* emitter_named(std::string_view name);

/// What `emitter` writes, and the script that gets the tool. Input failures: paths that no job could use, a
/// file that the system would not take.
[[nodiscard]] Result<std::vector<Artifact>> write_all(const Emitter& emitter, const Input& input);

/// The row of ci_limits; without one as much as there is.
[[nodiscard]] std::size_t limit_of(const Facts& facts, std::string_view system, std::string_view of);
/// Of one file (of Kubernetes: of one object), in bytes.
[[nodiscard]] std::size_t bytes_of(const Facts& facts, std::string_view system);

[[nodiscard]] Result<std::vector<Artifact>> bake(const Input& input);
[[nodiscard]] Result<std::vector<Artifact>> buildkite(const Input& input);
[[nodiscard]] Result<std::vector<Artifact>> github(const Input& input);
[[nodiscard]] Result<std::vector<Artifact>> gitlab(const Input& input);
[[nodiscard]] Result<std::vector<Artifact>> jenkins(const Input& input);
[[nodiscard]] Result<std::vector<Artifact>> kubernetes(const Input& input);
[[nodiscard]] Result<std::vector<Artifact>> slurm(const Input& input);

}  // namespace cudamatrix::emit
