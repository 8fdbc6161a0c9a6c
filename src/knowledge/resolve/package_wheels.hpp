// Which wheels of a release pip takes: by the machine of the cell, and by its python.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "knowledge/facts/pep440.hpp"
#include "knowledge/facts/wheel_tags.hpp"
#include "knowledge/resolve/context.hpp"
#include "knowledge/resolve/resolve.hpp"

namespace cudamatrix::rules {

/// What decides which wheels pip takes.
struct Machine {
    std::string_view system = "linux";  ///< linux (with glibc), musl, windows, macos: words of `platforms`
    std::string_view arch;
    std::string text;         ///< "Linux on x86_64", "Windows", "Alpine Linux 3.20, which has musl"
    std::optional<Row> os{};  ///< of a system that is not Linux with glibc
    [[nodiscard]] bool is_glibc() const { return system == "linux"; }
    /// The field that the system comes from: what a finding about it speaks of.
    [[nodiscard]] Field field() const { return is_glibc() ? Field::arch : Field::os; }
};
/// Linux with glibc where the cell names no system, or one that no fact knows.
[[nodiscard]] Machine machine_of(const Context& context);
/// "cp312", "cp39-abi3", "py3": the wheels of a release for the machine.
[[nodiscard]] facts::Values wheel_tags(const Row& row, const Machine& machine);
/// False where a release's wheels were looked through for Linux with glibc only, and the machine is another.
[[nodiscard]] bool knows_wheels(const Row& row, const Machine& machine);
/// None at all (package-has-wheel says so).
[[nodiscard]] bool lacks_wheels(const Row& row, const Machine& machine);

/// A python, as pip compares with it.
struct Python {
    std::string_view text;    ///< as the cell or the fact writes it
    pep440::Version version;  ///< 3.12 -> 3.12.99, its newest patch level whatever it is; 3.12.4 -> itself
    lookup::PythonAbi abi;
};
/// Nothing where the text names no minor release.
[[nodiscard]] std::optional<Python> python_of(std::string_view text);

/// Whether the release's Requires-Python, if it has one, takes the python.
[[nodiscard]] bool admits(const Row& row, const Python& python);
/// Whether one of its wheels for the machine is for the python.
[[nodiscard]] bool has_wheel(const Row& row, const Python& python, const Machine& machine);
/// "3.9, 3.10 and later": the pythons that it has wheels for.
[[nodiscard]] std::string pythons_with_wheels(const Row& row, const Machine& machine);
/// "x86_64", "Windows": behind "python 3.12 on".
[[nodiscard]] std::string on_system(const Machine& machine);

}  // namespace cudamatrix::rules
