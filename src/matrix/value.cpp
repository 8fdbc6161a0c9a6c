#include "matrix/value.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "matrix/spelling.hpp"
#include "matrix/syntax.hpp"

namespace cudamatrix {
namespace {

// Of a nightly build ("2.9.0.dev20250812+cu128") the release that it goes before, which is the nearest that
// the facts can know.
std::string release_after(std::string_view text) {
    const auto nightly = text.find(".dev");
    if (nightly == std::string_view::npos) return {};
    const auto variant = std::min(text.find('+', nightly), text.size());
    return fmt::format("{}{}", text.substr(0, nightly), text.substr(variant));
}

// What the text would be in the words of this file; empty where nothing is near.
std::string respelled(const FieldInfo& field, std::string_view text) {
    if (field.syntax == Syntax::slug) return text::replace_all(text::lower(text), " ", "");
    if (field.field == Field::torch && text.find(".dev") != text.npos) return release_after(text);
    return usual_spelling(field.field, text);
}

std::string fix_for(const FieldInfo& field, std::string_view text) {
    if (text.empty() || text.size() > 64) return {};
    if (field.field == Field::cuda && text == "none")
        return "leave cuda out: that is an image without a toolkit (beside an axis of cuda: an include "
               "without it)";
    if (const auto better = respelled(field, text); syntax::accepts(field, better))
        return fmt::format("write {}", better);
    return text::did_you_mean_or(text, field.choices);
}

// "a=1,2,b=3": a part without '=' goes on with the value before it.
std::variant<Value, ValueProblem> map_from_text(Field field, std::string_view text) {
    Value value;
    for (const auto& part : text::split(text, ',')) {
        const auto equals = std::min(part.find('='), part.size());
        if (equals == part.size() && !value.items.empty()) {
            value.items.back().second += ',' + part;
        } else {
            value.items.emplace_back(part.substr(0, equals), part.substr(std::min(equals + 1, part.size())));
        }
    }
    for (const auto& [name, member] : value.items) {
        if (auto problem = check_member(field, name, member)) return std::move(*problem);
    }
    set_text_from_items(value, Syntax::string_map);
    return value;
}

}  // namespace

std::string in_quotes(std::string_view text) {
    constexpr std::size_t longest = 60;
    std::size_t end = std::min(text.size(), longest);
    while (end > 0 && end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0u) == 0x80u)
        --end;
    return fmt::format("\"{}{}\"", text::printable(text.substr(0, end)), end < text.size() ? "..." : "");
}

std::optional<ValueProblem> check_scalar(Field field, std::string_view text) {
    const FieldInfo& about = info(field);
    const bool is_number =
        about.syntax == Syntax::version || about.syntax == Syntax::python || about.syntax == Syntax::torch;
    const bool readable = !is_number || text == "none" || Version::parse(text).has_value();
    if (readable && syntax::accepts(about, text)) return std::nullopt;
    return ValueProblem{fmt::format("invalid {} {}: expected {}", about.name, in_quotes(text), about.accepts),
                        fix_for(about, text)};
}

void set_text_from_items(Value& value, Syntax syntax) {
    value.text.clear();
    for (const auto& [name, text] : value.items) {
        if (!value.text.empty()) value.text += ',';
        value.text += name;
        if (syntax == Syntax::string_map) value.text += '=' + text;
    }
}

std::variant<Value, ValueProblem> value_from_text(Field field, std::string_view text) {
    const Syntax syntax = info(field).syntax;
    Value value;
    if (syntax == Syntax::string_map) return map_from_text(field, text);
    if (syntax == Syntax::name_list) {
        for (const auto& part : text::split(text, ',')) {
            if (auto problem = check_scalar(field, part)) return std::move(*problem);
            value.items.emplace_back(part, "");
        }
        set_text_from_items(value, syntax);
        return value;
    }
    if (auto problem = check_scalar(field, text)) return std::move(*problem);
    value.text = text;
    return value;
}

bool compares_as_version(Field field) {
    using enum Syntax;
    const Syntax syntax = info(field).syntax;
    return syntax == version || syntax == driver || syntax == compute || syntax == torch ||
           syntax == python || syntax == count;
}

std::string_view driver_number(std::string_view text) {
    return text.substr(text.starts_with('R') || text.starts_with('r') ? 1 : 0);
}

std::optional<Version> version_of(Field field, std::string_view text) {
    if (!compares_as_version(field)) return std::nullopt;
    if (field == Field::mig && text == "true") text = "1";
    return Version::parse(field == Field::driver ? driver_number(text) : text);
}

}  // namespace cudamatrix
