// What the hardware and the container toolkit of a cell do to compat libraries (cuda_compat); shared by the
// rules about them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "knowledge/resolve/resolve.hpp"

namespace cudamatrix::rules {

/// The class of hosts that decides, where it was read, and how a message calls it.
struct Hardware {
    Field field = Field::host_class;
    std::string host_class;
    std::string text;  ///< "RTX 4090 (class geforce)", "host class geforce"
    std::vector<FactRef> facts;
};
/// For a cell with a gpu or a host_class; the latter decides.
[[nodiscard]] Resolved<Hardware> compat_hardware(const Context& context);

/// Whether the hardware is known to refuse compat libraries.
[[nodiscard]] bool refuses_compat(const Context& context);

/// Whether compat libraries are made for the hardware (class datacenter).
[[nodiscard]] bool accepts_compat(const Context& context);

/// The release of nvidia-container-toolkit from which on libraries are left unused on branches that they are
/// not made for.
[[nodiscard]] std::optional<Version> branch_check_since(const Facts& facts);
/// Whether the cell's toolkit may use libraries on such a branch: it is older than that, or not given.
[[nodiscard]] bool toolkit_uses_any_branch(const Context& context);

}  // namespace cudamatrix::rules
