// Tags of wheels' names (PEP 425, 513, 599, 600) as the facts say them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "knowledge/facts/facts.hpp"
#include "registry/wheel_index.hpp"

namespace cudamatrix::measure {

/// The processor of a wheel for Linux with glibc, "any" for one that runs everywhere; empty: another system.
[[nodiscard]] std::string linux_arch(const WheelName& name);

/// "3.12", "3.13t": CPythons with a wheel, in their order, each once.
[[nodiscard]] std::vector<std::string> pythons_of(const std::vector<IndexFile>& wheels);

/// "py3", "cp312", "cp313t", "cp39-abi3" of the wheels for `arch`, in their order, each once.
[[nodiscard]] std::vector<std::string> abis_of(const std::vector<IndexFile>& wheels, std::string_view arch);

/// "linux" (with glibc), "macos", "musl", "windows": the systems that one of the wheels is for, sorted; all
/// of them where one is for any.
[[nodiscard]] std::vector<std::string> systems_of(const std::vector<IndexFile>& wheels);
/// The tags as above of the wheels for a system, of whichever processor.
[[nodiscard]] std::vector<std::string> abis_on(const std::vector<IndexFile>& wheels, std::string_view system);

/// "2.28": the lowest glibc that the platform tags of the file name ask for; empty where they name none
/// that can be relied on.
[[nodiscard]] std::string glibc_of(std::string_view file, const Facts& facts);

/// "3.13" of "3.13t".
[[nodiscard]] std::string without_suffix(std::string_view python);

}  // namespace cudamatrix::measure
