#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// The little JSON that the suite needs: it is compiled inside images that have a compiler and nothing else.
namespace cudamatrix::suite::json {

/// A JSON value. Objects keep the order of their members, so that lines are the same on every run.
class Value {
  public:
    enum class Type { null, boolean, integer, real, string, array, object };
    using Member = std::pair<std::string, Value>;

    Value() = default;
    Value(bool value) : type_(Type::boolean), boolean_(value) {}
    Value(int value) : type_(Type::integer), integer_(value) {}
    Value(long value) : type_(Type::integer), integer_(value) {}
    Value(long long value) : type_(Type::integer), integer_(value) {}
    Value(unsigned value) : type_(Type::integer), integer_(value) {}
    /// Beyond 2^63 - 1 a number is kept as a real.
    Value(unsigned long value);
    Value(double value) : type_(Type::real), real_(value) {}
    Value(const char* value) : type_(Type::string), string_(value) {}
    Value(std::string_view value) : type_(Type::string), string_(value) {}
    Value(std::string value) : type_(Type::string), string_(std::move(value)) {}
    Value(const std::vector<std::string>& values);

    [[nodiscard]] static Value array() { return Value(Type::array); }
    [[nodiscard]] static Value object() { return Value(Type::object); }

    [[nodiscard]] Type type() const { return type_; }
    [[nodiscard]] bool is(Type type) const { return type_ == type; }
    [[nodiscard]] bool is_true() const { return type_ == Type::boolean && boolean_; }
    [[nodiscard]] const std::string& text() const { return string_; }  ///< "" unless a string
    [[nodiscard]] std::int64_t integer() const { return integer_; }    ///< 0 unless an integer
    [[nodiscard]] double number() const;                               ///< 0 unless a number
    [[nodiscard]] const std::vector<Value>& items() const { return items_; }
    [[nodiscard]] const std::vector<Member>& members() const { return members_; }

    void push_back(Value value) { items_.push_back(std::move(value)); }
    /// Replaces a member of that name or appends one.
    void set(std::string_view name, Value value);
    void erase(std::string_view name);
    [[nodiscard]] const Value* find(std::string_view name) const;
    /// Text of a string member, "" when absent or of another type.
    [[nodiscard]] std::string text_of(std::string_view name) const;

    /// One line, without blanks. Bytes that are not UTF-8 become U+FFFD, NaN and infinities null.
    [[nodiscard]] std::string dump() const;

  private:
    explicit Value(Type type) : type_(type) {}
    void dump_to(std::string& out) const;

    Type type_ = Type::null;
    bool boolean_ = false;
    std::int64_t integer_ = 0;
    double real_ = 0;
    std::string string_;
    std::vector<Value> items_;
    std::vector<Member> members_;
};

/// Parses one JSON document; on failure nothing, and `error` says what and at which byte.
/// Depth is limited to 64; duplicate member names are refused.
[[nodiscard]] std::optional<Value> parse(std::string_view text, std::string& error);

}  // namespace cudamatrix::suite::json
