// A JSON document of ours, read back with every value checked: each mistake has its place, what was found and
// what was expected.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.hpp"
#include "base/json.hpp"
#include "base/result.hpp"
#include "base/text.hpp"
#include "report/results.hpp"

namespace cudamatrix::report {

/// Bytes of a document that is read back.
inline constexpr std::uint64_t kLargestDocument = 256u << 20;

/// The JSON of a document; a mistake of its syntax has a place in the file.
[[nodiscard]] Result<Json> parse_report(std::string_view text, std::string_view file);

/// Where a value stands in a document, "$.cells[3].outcome"; the text is made only for a message.
struct JsonPlace {
    const JsonPlace* above = nullptr;
    std::string_view name;  ///< of a member; empty: an element of a list
    std::size_t index = 0;

    [[nodiscard]] std::string path() const;
};

/// What is wrong with a document: the first twenty mistakes, and how many more there are.
class Mistakes {
  public:
    explicit Mistakes(std::string_view file) : file_(file) {}

    void add(const JsonPlace& at, std::string_view what);
    [[nodiscard]] bool empty() const { return number_ == 0; }
    [[nodiscard]] Failure take() &&;

  private:
    static constexpr std::size_t kMost = 20;

    std::string file_;
    std::size_t number_ = 0;
    Failure failure_{ExitCode::bad_input, {}};
};

/// A value as a message shows it.
[[nodiscard]] std::string value_text(const Json& json);

/// An object of the document. What is missing or of another kind is a mistake, and reads as nothing.
class Members {
  public:
    Members(Mistakes& mistakes, const Json& json, const JsonPlace& at);

    [[nodiscard]] const Json* find(std::string_view name, bool is_required = true) const;
    void wrong(std::string_view name, const Json& found, std::string_view expected) const;
    [[nodiscard]] std::string text(std::string_view name) const;
    [[nodiscard]] std::string filled(std::string_view name) const;  ///< not empty
    template <class Values>
    std::string one_of(std::string_view name, const Values& words) const {
        const auto* found = find(name);
        if (found == nullptr) return {};
        if (found->is_string() && std::ranges::count(words, found->get_ref<const std::string&>()) != 0)
            return found->get<std::string>();
        std::vector<std::string> all;
        for (const auto word : words)
            all.emplace_back(word);
        wrong(name, *found, text::join(all, ", "));
        return {};
    }
    template <class Values>
    auto value(std::string_view name, const Values& values) const {
        std::vector<std::string_view> words;
        for (const auto each : values)
            words.push_back(to_string(each));
        return value_named(one_of(name, words), values).value_or(values[0]);
    }
    [[nodiscard]] bool truth(std::string_view name, bool is_required = true) const;
    [[nodiscard]] std::uint64_t whole(std::string_view name) const;
    [[nodiscard]] double number(std::string_view name) const;  ///< not negative
    /// `use` gets each element with its place.
    template <class Use>
    void each(std::string_view name, const Use& use, bool is_required = true) const {
        const auto* found = find(name, is_required);
        if (found == nullptr) return;
        if (!found->is_array()) return wrong(name, *found, "a list");
        const JsonPlace list{&at_, name};
        for (std::size_t i = 0; i < found->size(); ++i)
            use((*found)[i], JsonPlace{&list, {}, i});
    }
    [[nodiscard]] std::vector<std::string> texts(std::string_view name, bool is_required = true) const;
    /// The object `name`; `use` gets its members.
    template <class Use>
    void object(std::string_view name, const Use& use) const {
        if (const auto* found = find(name)) use(Members(mistakes_, *found, JsonPlace{&at_, name}));
    }
    [[nodiscard]] const Json& json() const { return json_; }
    [[nodiscard]] Mistakes& mistakes() const { return mistakes_; }

  private:
    Mistakes& mistakes_;
    const Json& json_;
    const JsonPlace& at_;
};

}  // namespace cudamatrix::report
