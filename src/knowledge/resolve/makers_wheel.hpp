// Wheels that a package's makers compile for one torch, as the local part of their version names it:
// 2.7.4.post1+cu12torch2.6cxx11abiFALSE, 0.2.4+cu124torch2.6, 2.1.2+pt26cu124. Shared by rules.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "knowledge/resolve/packages.hpp"

namespace cudamatrix::rules {

struct MakersWheel {
    std::string torch;              ///< "2.6", the release that it was compiled with as far as it is named
    std::string cuda;               ///< "124", "12"; empty: not named
    std::optional<bool> cxx11_abi;  ///< as the name says
};
/// Nothing where the version names no torch.
[[nodiscard]] std::optional<MakersWheel> makers_wheel(const Package& package);

/// The C++ ABI of a torch build for Linux, and what says so; nothing where no fact does.
struct TorchAbi {
    bool cxx11 = false;
    FactRef fact;
};
[[nodiscard]] std::optional<TorchAbi> torch_abi(const Facts& facts, const TorchBuild& build);

/// "the new C++ ABI", "the old C++ ABI".
[[nodiscard]] std::string_view abi_text(bool cxx11);

}  // namespace cudamatrix::rules
