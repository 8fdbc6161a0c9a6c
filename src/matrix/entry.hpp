// One entry of a list of maps, as rules, waive, images and services are (private to src/matrix).
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.hpp"
#include "matrix/reader.hpp"
#include "matrix/value.hpp"

namespace cudamatrix {

/// What an empty `when` is to be written as.
inline constexpr std::string_view kEveryCell = "for every cell leave the key out";

/// The members of one entry, each looked up by its name.
class Entry {
  public:
    Entry(Reader& reader, const yaml::Node& key, const yaml::Node& node)
        : reader_(reader), key_(key), node_(node) {}

    /// False, and an error, for anything but a map with members.
    [[nodiscard]] bool is_map(std::string_view example) const {
        if (node_.kind == yaml::Node::Kind::map && !node_.members.empty()) return true;
        reader_.error(
            node_.kind == yaml::Node::Kind::null ? key_.where : node_.where,
            fmt::format("{}: found {}, expected a map such as {}", key_.text,
                        node_.kind == yaml::Node::Kind::map ? "an empty map" : kind_name(node_.kind),
                        example));
        return false;
    }

    void refuse_keys_beside(const std::vector<std::string>& known) const {
        for (const auto& [name, member] : node_.members) {
            if (std::find(known.begin(), known.end(), name.text) == known.end())
                reader_.unknown_key(name, fmt::format("an entry of {}", key_.text), known);
        }
    }

    [[nodiscard]] const yaml::Member* find(std::string_view name) const {
        const auto found =
            std::find_if(node_.members.begin(), node_.members.end(),
                         [&](const yaml::Member& member) { return member.first.text == name; });
        return found == node_.members.end() ? nullptr : &*found;
    }

    /// An error where the member is missing.
    const yaml::Member* required(std::string_view name, std::string_view why) const {
        const auto* member = find(name);
        if (member == nullptr) {
            reader_.error(node_.where, fmt::format("{}: {} is missing: {}", key_.text, name, why),
                          fmt::format("write {}:", name));
        }
        return member;
    }

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

    /// A reason in words.
    [[nodiscard]] std::string sentence(const yaml::Member& member) const {
        constexpr std::size_t kLongestReason = 500;
        return scalar(member, "a reason on one line", [](std::string_view text) {
            return !text::trim(text).empty() && text.size() <= kLongestReason &&
                   text.find('\n') == std::string_view::npos;
        });
    }

    [[nodiscard]] Condition condition(std::string_view name, std::string_view empty_means) const {
        const auto* member = find(name);
        return member == nullptr ? Condition{{}, node_.where}
                                 : read_condition(reader_, member->first, member->second, empty_means);
    }

    /// What a list of words takes, in words: "a list of packages such as [git]", "a package such as git".
    struct ListForm {
        std::string_view list;
        std::string_view item;
        bool (*accepts)(std::string_view);
        bool repeated = false;  ///< the same item may appear twice
    };
    /// The items of a list, each a scalar that the form accepts.
    [[nodiscard]] std::vector<Word> words(const yaml::Member& member, const ListForm& form) const;

    /// A map of environment variables, as images and services may set them.
    [[nodiscard]] std::vector<Variable> variables(const yaml::Member& member) const;

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

    [[nodiscard]] const Location& where() const { return node_.where; }
    [[nodiscard]] Reader& reader() const { return reader_; }

  private:
    Reader& reader_;
    const yaml::Node& key_;
    const yaml::Node& node_;
};

/// "name": a word of lower-case letters, digits, '_' and '-' that entries of images and services have.
[[nodiscard]] bool is_entry_name(std::string_view text);
inline constexpr std::string_view kEntryNameForm =
    "up to 32 lower-case letters, digits, '_' and '-', starting with a letter or digit,";

/// An absolute path inside a container, not the root and without empty, "." and ".." steps.
[[nodiscard]] bool is_container_path(std::string_view text);

/// A relative path of plain names: no "." or ".." step, no leading '-'.
[[nodiscard]] bool is_relative_path(std::string_view text);

}  // namespace cudamatrix
