// The fields of a cell (field.def is the list).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cudamatrix {

enum class Field : std::uint8_t {
#define CUDAMATRIX_FIELD(name, ...) name,
#include "matrix/field.def"
#undef CUDAMATRIX_FIELD
};
inline constexpr std::size_t kFieldCount = static_cast<std::size_t>(Field::shm_gb) + 1;

/// How a value of the field must look .
enum class Syntax : std::uint8_t {
    version,     ///< 470.161.03, 12.4, 13
    driver,      ///< version, optionally with a leading R: r550
    compute,     ///< 7.5, 9.0a, 12.0f
    torch,       ///< 2.6.0, 2.6.0+cu124, none
    python,      ///< 3.12, 3.12.4, 3.13t
    name,        ///< words, for what is looked up in the facts: "RTX 4090", gcc-11
    slug,        ///< [a-z0-9._-]+: ubuntu22.04, debian12
    choice,      ///< one of `choices`
    image,       ///< an image reference
    count,       ///< a whole number; for mig also true
    name_list,   ///< one name or a list of names
    arch_list,   ///< 7.5;8.0+PTX
    string_map,  ///< packages, env: name -> value
};

struct FieldInfo {
    Field field;
    std::string_view name;       ///< the key in the matrix file
    std::string_view id_prefix;  ///< before the slug of the value in a cell's id: "drv", "cu", ""
    Syntax syntax;
    std::string_view accepts;          ///< for messages, after "expected"
    std::vector<std::string> choices;  ///< for Syntax::choice
};

[[nodiscard]] const std::array<FieldInfo, kFieldCount>& all_fields();
[[nodiscard]] const FieldInfo& info(Field field);
[[nodiscard]] std::optional<Field> field_named(std::string_view name);
[[nodiscard]] std::vector<std::string> field_names();

/// A set of fields: what a rule reads.
class FieldSet {
  public:
    constexpr FieldSet() = default;
    constexpr FieldSet(std::initializer_list<Field> fields) {
        for (const Field field : fields)
            bits_ |= bit(field);
    }
    [[nodiscard]] constexpr bool contains(Field field) const { return (bits_ & bit(field)) != 0; }
    constexpr void insert(Field field) { bits_ |= bit(field); }
    constexpr void insert(FieldSet fields) { bits_ |= fields.bits_; }
    [[nodiscard]] constexpr bool empty() const { return bits_ == 0; }

  private:
    static constexpr std::uint32_t bit(Field field) {
        return std::uint32_t{1} << static_cast<unsigned>(field);
    }
    std::uint32_t bits_ = 0;
};

}  // namespace cudamatrix
