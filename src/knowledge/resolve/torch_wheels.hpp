// The indexes and systems that torch is published for, and the builds that may take the place of the cell's.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "knowledge/resolve/candidates.hpp"
#include "knowledge/resolve/context.hpp"
#include "knowledge/resolve/resolve.hpp"

namespace cudamatrix::rules {

/// 124 of "cu124", 0 of "cpu": the order of these numbers is that of the CUDA versions.
[[nodiscard]] int cuda_number(std::string_view variant);

/// The fact that `variant` had no index on its day, of a CUDA newer than all that have one.
[[nodiscard]] std::optional<Row> absent_index(const Facts& facts, std::string_view variant);
/// No release was ever published for `variant`, although newer CUDA versions were, or a fact says so:
/// wheel-index-exists rejects it. Another CUDA beyond all that are known may have an index that the facts
/// lack.
[[nodiscard]] bool no_such_index(const Facts& facts, std::string_view variant);

// Wheels of torch outside Linux: the table torch_wheels speaks of Linux, torch_os_wheels of the others.

/// The cell's system where its wheels are not those of Linux.
struct OtherOs {
    std::string_view os;  ///< windows, macos: the word of torch_os_wheels
    Row row;              ///< of operating_systems
};
[[nodiscard]] std::optional<OtherOs> other_os(const Context& context);

/// The wheels of a release for that system, on the default index or, where the cell names a variant, on an
/// index of its own: on the cell's processor, or on each of them where the cell names none.
[[nodiscard]] std::vector<Row> os_wheels(const Context& context, const OtherOs& os, const TorchBuild& build);

/// The cell names a variant with a CUDA ("2.6.0+cu124").
[[nodiscard]] bool names_cuda_variant(const Context& context);
/// The cell names a GPU.
[[nodiscard]] bool wants_gpu(const Context& context);

/// On Linux: the bare name of a release installs a CPU build for the cell's processor, although it is one for
/// a GPU on x86_64.
[[nodiscard]] bool silent_cpu_build(const Context& context, const TorchBuild& build);

/// The builds of torch that a search for ways out may try (candidates.hpp); of `variants` the first, if any.
[[nodiscard]] Candidates other_torch(const Context& context, const std::vector<std::string>& variants);

}  // namespace cudamatrix::rules
