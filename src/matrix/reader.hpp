// What the readers of the matrix file's sections share (private to src/matrix).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "matrix/matrix.hpp"
#include "matrix/yaml.hpp"

namespace cudamatrix {

/// Gathers the mistakes of a file and the matrix that it describes.
struct Reader {
    Matrix matrix;
    std::vector<Diagnostic> problems;

    void error(const Location& where, std::string message, std::string fix = {});
    void warning(const Location& where, std::string message, std::string fix = {});

    /// True when `node` is of `kind`; otherwise an error: "set: found a list, expected <accepts>".
    /// An absent value has no place of its own: it is reported at `key`.
    bool expect(const yaml::Node& key, const yaml::Node& node, yaml::Node::Kind kind,
                std::string_view accepts);

    /// The field that `key` names, or an error with "did you mean".
    std::optional<Field> field(const yaml::Node& key);

    /// The value of `field` in `node`; nothing and an error where it is malformed. `key` is the place of an
    /// absent value.
    std::optional<Value> value(Field field, const yaml::Node& key, const yaml::Node& node);

    /// An error for a key that is none of `known`: "<what> has no key "x"".
    void unknown_key(const yaml::Node& key, std::string_view what, const std::vector<std::string>& known);

  private:
    std::optional<Value> list_value(Field field, const yaml::Node& node);
    std::optional<Value> map_value(Field field, const yaml::Node& node);
};

/// "a list", "a map", "nothing", "a value".
[[nodiscard]] std::string_view kind_name(yaml::Node::Kind kind);

/// "4:12".
[[nodiscard]] std::string place(const Location& where);

/// The names that may stand under stages.
[[nodiscard]] const std::vector<std::string>& stage_names();

/// A map of fields and values, ranges or lists. `key` names the section in messages; the condition of a node
/// that is none, or of an empty map, has no clause, and an error was reported. `empty_means` says what an
/// empty map would do.
[[nodiscard]] Condition read_condition(Reader& reader, const yaml::Node& key, const yaml::Node& node,
                                       std::string_view empty_means);

// The sections. Each takes the key as well, because an absent value is reported there.
void read_axes(Reader& reader, const yaml::Node& key, const yaml::Node& node);
void read_zip(Reader& reader, const yaml::Node& key, const yaml::Node& node);
void read_set(Reader& reader, const yaml::Node& key, const yaml::Node& node);
void read_include(Reader& reader, const yaml::Node& key, const yaml::Node& node);
void read_exclude(Reader& reader, const yaml::Node& key, const yaml::Node& node);
void read_rules(Reader& reader, const yaml::Node& key, const yaml::Node& node);
void read_waive(Reader& reader, const yaml::Node& key, const yaml::Node& node);
void read_stages(Reader& reader, const yaml::Node& key, const yaml::Node& node);
void read_build(Reader& reader, const yaml::Node& key, const yaml::Node& node);
void read_mirrors(Reader& reader, const yaml::Node& key, const yaml::Node& node);
void read_images(Reader& reader, const yaml::Node& key, const yaml::Node& node);
void read_services(Reader& reader, const yaml::Node& key, const yaml::Node& node);

}  // namespace cudamatrix
