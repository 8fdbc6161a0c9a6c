// The data that a template is filled from.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace cudamatrix::mustache {

/// A text, a truth, a list or an object. Numbers are texts: a template never computes.
class Data {
  public:
    using List = std::vector<Data>;
    using Object = std::map<std::string, Data, std::less<>>;

    // Not inline: g++ 12 takes what it inlines of a variant's copy for uninitialised.
    Data(const Data& other);
    Data(Data&& other) noexcept;
    Data& operator=(const Data& other);
    Data& operator=(Data&& other) noexcept;
    ~Data();

    Data() : data_(std::string()) {}
    Data(std::string text) : data_(std::move(text)) {}         // NOLINT: implicit on purpose
    Data(std::string_view text) : data_(std::string(text)) {}  // NOLINT
    Data(const char* text) : data_(std::string(text)) {}       // NOLINT
    Data(bool truth) : data_(truth) {}                         // NOLINT
    Data(List list) : data_(std::move(list)) {}                // NOLINT
    Data(Object object) : data_(std::move(object)) {}          // NOLINT
    Data(const std::vector<std::string>& texts) : data_(List(texts.begin(), texts.end())) {}  // NOLINT

    [[nodiscard]] const std::string* text() const { return std::get_if<std::string>(&data_); }
    [[nodiscard]] const bool* truth() const { return std::get_if<bool>(&data_); }
    [[nodiscard]] const List* list() const { return std::get_if<List>(&data_); }
    [[nodiscard]] const Object* object() const { return std::get_if<Object>(&data_); }

    /// "a text", "a boolean", "a list", "an object": for messages.
    [[nodiscard]] std::string_view kind() const;

  private:
    std::variant<std::string, bool, List, Object> data_;
};

}  // namespace cudamatrix::mustache
