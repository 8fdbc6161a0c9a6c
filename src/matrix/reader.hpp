// What the readers and writers of the matrix file's sections share (private to src/matrix).
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "matrix/matrix.hpp"
#include "matrix/spelling.hpp"
#include "matrix/value.hpp"
#include "matrix/yaml.hpp"

namespace cudamatrix {

/// "a list", "a map", "nothing", "a single value".
[[nodiscard]] std::string_view kind_name(yaml::Node::Kind kind);
/// What was found: the text of a scalar in quotes, else the name of its kind.
[[nodiscard]] std::string found_text(const yaml::Node& node);
/// "4:12".
[[nodiscard]] std::string place(const Location& where);
/// Whether `a` stands before `b` in a file.
[[nodiscard]] bool before(const Location& a, const Location& b);
/// Bad input: these mistakes, or a hundred of them and how many more there are.
[[nodiscard]] Failure first_hundred(std::vector<Diagnostic> problems);
/// The names that may stand under stages.
[[nodiscard]] const std::vector<std::string>& stage_names();

/// Gathers the mistakes of a file and the matrix that it describes.
struct Reader {
    Matrix matrix;
    std::vector<Diagnostic> problems;
    Spelling names = {};  ///< the spellings that only facts know

    void error(const Location& where, std::string message, std::string fix = {});
    void warning(const Location& where, std::string message, std::string fix = {});

    /// True when `node` is of `kind`; otherwise an error: "set: found a list, expected <accepts>".
    /// An absent value has no place of its own: it is reported at `key`.
    bool expect(const yaml::Node& key, const yaml::Node& node, yaml::Node::Kind kind,
                std::string_view accepts);

    /// False, and an error, for a word that stands at an earlier place too: "<what>: first at 4:12".
    bool first_time(std::map<std::string, Location>& seen, const std::string& word, const Location& where,
                    std::string_view what, std::string fix);

    /// The field that `key` names, or an error with "did you mean".
    std::optional<Field> field(const yaml::Node& key);

    /// The value of `field` in `node`; nothing and an error where it is malformed. `key` is the place of an
    /// absent value.
    std::optional<Value> value(Field field, const yaml::Node& key, const yaml::Node& node);

    /// What `text` means in the words of a matrix file, and that it was read so; empty where it is one of
    /// them.
    std::string meant(Field field, std::string_view text, const Location& where);

    /// An error for a key that is none of `known`: "<what> has no key "x"".
    void unknown_key(const yaml::Node& key, std::string_view what, const std::vector<std::string>& known);

  private:
    std::optional<Value> list_value(Field field, const yaml::Node& node);
    std::optional<Value> map_value(Field field, const yaml::Node& node);
};

/// What an empty `when` is to be written as.
inline constexpr std::string_view kEveryCell = "for every cell leave the key out";

/// A map of fields and values, ranges or lists; without clauses after an error. `key` names the section in
/// messages, `empty_means` says what an empty map would do.
[[nodiscard]] Condition read_condition(Reader& reader, const yaml::Node& key, const yaml::Node& node,
                                       std::string_view empty_means);

/// One entry of a list of maps, as rules, waive, images and services are.
class Entry {
  public:
    Entry(Reader& reader, const yaml::Node& key, const yaml::Node& node)
        : reader_(reader), key_(key), node_(node) {}

    /// False, and an error, for anything but a map with members.
    [[nodiscard]] bool is_map(std::string_view example) const;
    void refuse_keys_beside(const std::vector<std::string>& known) const;

    [[nodiscard]] const yaml::Member* find(std::string_view name) const;
    /// An error where the member is missing.
    const yaml::Member* required(std::string_view name, std::string_view why) const;

    /// A scalar that `accepts` takes, or nothing and an error.
    template <class Accepts>
    std::string scalar(const yaml::Member& member, std::string_view accepted, Accepts accepts) const {
        const auto& [name, node] = member;
        if (!reader_.expect(name, node, yaml::Node::Kind::scalar, accepted)) return {};
        if (accepts(node.text)) return node.text;
        reader_.error(node.where,
                      fmt::format("invalid {} {}: expected {}", name.text, in_quotes(node.text), accepted));
        return {};
    }
    /// The scalar of a member that has to be there, with its place; without it that of the entry.
    template <class Accepts>
    Word word(std::string_view name, std::string_view why, std::string_view accepted, Accepts accepts) const {
        const auto* member = required(name, why);
        if (member == nullptr) return {{}, node_.where};
        return {scalar(*member, accepted, accepts), member->second.where};
    }
    /// The scalar of a member that may be missing.
    template <class Accepts>
    void optional(std::string_view name, std::string& value, std::string_view accepted,
                  Accepts accepts) const {
        if (const auto* member = find(name)) value = scalar(*member, accepted, accepts);
    }

    /// A reason in words; nothing where there is no member.
    [[nodiscard]] std::string sentence(const yaml::Member* member) const;

    [[nodiscard]] Condition condition(std::string_view name, std::string_view empty_means) const;

    /// What a list of words takes, in words: "a list of packages such as [git]", "a package such as git".
    struct ListForm {
        std::string_view list;
        std::string_view item;
        bool (*accepts)(std::string_view);
        bool repeated = false;  ///< the same item may appear twice
    };
    /// The items of a list, each a scalar that the form accepts.
    [[nodiscard]] std::vector<Word> words(const yaml::Member& member, const ListForm& form) const;
    /// The same of a member that may be missing.
    void optional(std::string_view name, std::vector<Word>& value, const ListForm& form) const {
        if (const auto* member = find(name)) value = words(*member, form);
    }

    /// A map of environment variables, as images and services may set them.
    void variables(std::string_view name, std::vector<Variable>& value) const;

    /// The members of a list of maps, each read by `read`.
    template <class Read>
    void each_map(const yaml::Member& member, std::string_view example, Read read) const {
        const auto& [name, node] = member;
        if (!reader_.expect(name, node, yaml::Node::Kind::sequence,
                            fmt::format("a list such as [{}]", example)))
            return;
        for (const auto& item : node.items) {
            const Entry inner(reader_, name, item);
            if (inner.is_map(example)) read(inner);
        }
    }

    /// An error where one of `earlier` has the name of `one`: "name "a": an earlier entry of images has it,
    /// at 4:12".
    template <class T>
    void refuse_name_of(const std::vector<T>& earlier, const T& one, std::string T::*name,
                        std::string_view holder, std::string_view each) const {
        for (const T& other : earlier) {
            if ((one.*name).empty() || other.*name != one.*name) continue;
            const std::string_view key = each == "rule" ? "id" : "name";
            reader_.error(
                one.where,
                fmt::format("{} {}: {} has it, at {}", key, in_quotes(one.*name), holder, place(other.where)),
                fmt::format("give each {} {} {} of its own", each, key == "id" ? "an" : "a", key));
            return;
        }
    }

    [[nodiscard]] Reader& reader() const { return reader_; }

  private:
    Reader& reader_;
    const yaml::Node& key_;
    const yaml::Node& node_;
};

/// "true" or "false".
[[nodiscard]] bool is_truth_value(std::string_view text);

/// "name": a word of lower-case letters, digits, '_' and '-' that entries of images and services have.
[[nodiscard]] bool is_entry_name(std::string_view text);
inline constexpr std::string_view kEntryNameForm =
    "up to 32 lower-case letters, digits, '_' and '-', starting with a letter or digit,";

/// An absolute path inside a container, not the root and without empty, "." and ".." steps.
[[nodiscard]] bool is_container_path(std::string_view text);
/// A relative path of plain names: no "." or ".." step, no leading '-'.
[[nodiscard]] bool is_relative_path(std::string_view text);

/// A command, or a map with `test` and times.
void read_healthcheck(const Entry& entry, Healthcheck& check);

inline constexpr std::string_view kImageExample =
    "{name: train, when: {flavour: devel}, apt: [git], pip: requirements.txt}";
inline constexpr std::string_view kServiceExample =
    "{name: trainer, image: train, command: [python, train.py], gpu: 1}";

/// The text of an alternative, which parse_alternative reads as the same.
[[nodiscard]] std::string alternative_text(const std::vector<Predicate>& all);
/// What read_condition, Entry::variables and read_healthcheck read, as it is written.
[[nodiscard]] Json condition_json(const Condition& condition);
[[nodiscard]] Json variables_json(const std::vector<Variable>& variables);
[[nodiscard]] Json healthcheck_json(const Healthcheck& check);
/// A list of the same.
template <class Items, class Write>
Json list_json(const Items& items, Write write) {
    auto list = Json::array();
    for (const auto& item : items)
        list.push_back(write(item));
    return list;
}

// The sections as they are written in the canonical form; null or empty: they are left out.
[[nodiscard]] Json write_axes(const Matrix& matrix);
[[nodiscard]] Json write_zip(const Matrix& matrix);
[[nodiscard]] Json write_set(const Matrix& matrix);
[[nodiscard]] Json write_include(const Matrix& matrix);
[[nodiscard]] Json write_exclude(const Matrix& matrix);
[[nodiscard]] Json write_keep(const Matrix& matrix);
[[nodiscard]] Json write_rules(const Matrix& matrix);
[[nodiscard]] Json write_waive(const Matrix& matrix);
[[nodiscard]] Json write_stages(const Matrix& matrix);
[[nodiscard]] Json write_build(const Matrix& matrix);
[[nodiscard]] Json write_mirrors(const Matrix& matrix);
[[nodiscard]] Json write_images(const Matrix& matrix);
[[nodiscard]] Json write_services(const Matrix& matrix);
[[nodiscard]] Json write_emit(const Matrix& matrix);

/// Reads `expect` and `expect_cells` into Matrix::expect, and holds the file's keys and its end against them.
/// Returns the name and the place of the number of cells, which check_cells needs when they are known.
[[nodiscard]] std::optional<Word> read_expect(Reader& reader, const yaml::Node& root);
void check_cells(Reader& reader, const Word& expected);
/// What a file with `keys` keys says of itself.
[[nodiscard]] Json write_expect(const Expect& expect, std::size_t keys);

// The sections, each with its key and a node of the kind that it takes.
void read_axes(Reader& reader, const yaml::Node& key, const yaml::Node& node);
/// Also joins the axes, and refuses rows that stand twice: to be called without `zip` too.
void read_zip(Reader& reader, const yaml::Node& key, const yaml::Node& node);
void read_set(Reader& reader, const yaml::Node& key, const yaml::Node& node);
void read_include(Reader& reader, const yaml::Node& key, const yaml::Node& node);
void read_exclude(Reader& reader, const yaml::Node& key, const yaml::Node& node);
void read_keep(Reader& reader, const yaml::Node& key, const yaml::Node& node);
void read_rules(Reader& reader, const yaml::Node& key, const yaml::Node& node);
void read_waive(Reader& reader, const yaml::Node& key, const yaml::Node& node);
void read_stages(Reader& reader, const yaml::Node& key, const yaml::Node& node);
void read_build(Reader& reader, const yaml::Node& key, const yaml::Node& node);
void read_mirrors(Reader& reader, const yaml::Node& key, const yaml::Node& node);
void read_images(Reader& reader, const yaml::Node& key, const yaml::Node& node);
/// Reads the requirements files that `images` name, beside the matrix file, into their `pip`; reports all
/// mistakes.
[[nodiscard]] Status read_requirements(const std::string& matrix_path, std::vector<ImageEntry>& images,
                                       const file::Reader& read);
void read_services(Reader& reader, const yaml::Node& key, const yaml::Node& node);
void read_emit(Reader& reader, const yaml::Node& key, const yaml::Node& node);

}  // namespace cudamatrix
