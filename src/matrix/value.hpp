// Checks one value against the syntax of its field: the allow-list that hostile text does not pass.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/version.hpp"
#include "matrix/field.hpp"
#include "matrix/matrix.hpp"

namespace cudamatrix {

/// The version of a package that stands for the one that goes with the cell's torch.
inline constexpr std::string_view kCompanionVersion = "auto";
/// The version of a package that is not pinned: what pip would take for the cell.
inline constexpr std::string_view kAnyVersion = "any";
/// The version of numpy that stands for none: images with torch get one otherwise.
inline constexpr std::string_view kNoPackage = "none";

/// A condition of NVIDIA_REQUIRE_* on the host ("cuda>=12.4 brand=tesla,driver<536"): letters, digits and
/// these marks. It is judged and never rendered. Those of nvidia/cuda have up to two thousand characters.
inline constexpr std::string_view kConditionMarks = " _./:,;=+@%~-<>!";
inline constexpr std::size_t kLongestCondition = 4096;

/// Why a text is not a value of a field. `message` says what was found and what was expected.
struct ValueProblem {
    std::string message;
    std::string fix;
};

/// `text` in quotes, shortened and without control characters, for a message.
[[nodiscard]] std::string in_quotes(std::string_view text);

/// Nothing when `text` is a scalar value of `field`.
[[nodiscard]] std::optional<ValueProblem> check_scalar(Field field, std::string_view text);

/// Nothing when `name: text` may stand in the map field `field` (packages, env).
[[nodiscard]] std::optional<ValueProblem> check_member(Field field, std::string_view name,
                                                       std::string_view text);

/// "compute": small letters and digits. Which of them there are, the facts know.
[[nodiscard]] bool is_capability_word(std::string_view text);

/// False for a variable of NVIDIA's that no image or service may carry, because it decides what a privileged
/// hook of the host does: only NVIDIA_VISIBLE_DEVICES (all, none, void) and NVIDIA_DRIVER_CAPABILITIES are
/// rendered.
[[nodiscard]] bool is_rendered_variable(std::string_view name, std::string_view value);

/// Rebuilds `text` of a list or map from its items: "a,b" or "name=value,name=value".
void set_text_from_items(Value& value, Syntax syntax);

/// The value that `text` stands for, split into items where the field is a list or a map.
[[nodiscard]] std::variant<Value, ValueProblem> value_from_text(Field field, std::string_view text);

/// A driver as NVIDIA numbers it: the leading R of a branch ("R550") dropped.
[[nodiscard]] std::string_view driver_number(std::string_view text);

/// A nightly build of torch, which goes before a release: "2.9.0.dev20250812+cu128".
struct Nightly {
    std::string number;   ///< 2.9.0
    std::string day;      ///< 20250812
    std::string variant;  ///< +cu128, or empty
    /// 2.9.0+cu128
    [[nodiscard]] std::string release() const { return number + variant; }
};
[[nodiscard]] std::optional<Nightly> nightly_of(std::string_view torch);

/// The version in a value, a driver's leading R dropped; nothing for `none` and for fields that are text.
[[nodiscard]] std::optional<Version> version_of(Field field, std::string_view text);

/// True for fields whose values compare as versions.
[[nodiscard]] bool compares_as_version(Field field);

}  // namespace cudamatrix
