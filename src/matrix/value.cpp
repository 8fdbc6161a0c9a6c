#include "matrix/value.hpp"

#include <algorithm>
#include <charconv>

#include "base/text.hpp"
#include "matrix/spelling.hpp"
#include "matrix/syntax.hpp"

namespace cudamatrix {
namespace {

constexpr std::string_view kNightly = ".dev";

// "2.9.0dev20250812" and "2.9.0-dev20250812" as they are to be written; empty for what names no day.
std::string nightly_from(std::string_view text) {
    const auto dev = text.find(kNightly.substr(1));
    if (dev == std::string_view::npos || dev == 0) return {};
    const auto number = text.substr(0, text.find_last_not_of(".-_", dev - 1) + 1);
    return fmt::format("{}.{}", number, text.substr(dev));
}

// What the text would be in the words of this file; empty where nothing is near.
std::string respelled(const FieldInfo& field, std::string_view text) {
    if (field.syntax == Syntax::slug) return text::replace_all(text::lower(text), " ", "");
    if (field.field == Field::torch && text.find(kNightly.substr(1)) != std::string_view::npos)
        return nightly_from(text);
    return usual_spelling(field.field, text);
}

std::string fix_for(const FieldInfo& field, std::string_view text) {
    if (text.empty() || text.size() > 64) return {};
    if (field.field == Field::cuda && text == "none")
        return "leave cuda out: that is an image without a toolkit (beside an axis of cuda: an include "
               "without it)";
    if (const auto better = respelled(field, text); syntax::accepts(field, better))
        return fmt::format("write {}", better);
    if (field.field == Field::torch && (text.find("dev") != text.npos || text.find("nightly") != text.npos))
        return "write a nightly build with its day, such as 2.9.0.dev20250812";
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
    const bool readable = !is_number || text == "none" || version_of(field, text).has_value();
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

std::optional<Nightly> nightly_of(std::string_view torch) {
    constexpr std::size_t digits = 8;
    const auto dev = torch.find(kNightly);
    // "2.9.0+x.dev20250812" has it in the name of its variant.
    if (dev >= torch.find('+') || dev == torch.npos || !syntax::accepts(info(Field::torch), torch))
        return std::nullopt;
    const auto day = dev + kNightly.size();
    return Nightly{std::string(torch.substr(0, dev)), std::string(torch.substr(day, digits)),
                   std::string(torch.substr(day + digits))};
}

std::string_view driver_number(std::string_view text) {
    return text.substr(text.starts_with('R') || text.starts_with('r') ? 1 : 0);
}

std::optional<Version> version_of(Field field, std::string_view text) {
    if (!compares_as_version(field)) return std::nullopt;
    if (field == Field::mig && text == "true") text = "1";
    if (const auto nightly = field == Field::torch ? nightly_of(text) : std::nullopt) {
        const auto release = Version::parse(nightly->release());
        std::uint32_t day = 0;
        std::from_chars(nightly->day.data(), nightly->day.data() + nightly->day.size(), day);
        return release ? std::optional(release->nightly(day)) : std::nullopt;
    }
    return Version::parse(field == Field::driver ? driver_number(text) : text);
}

}  // namespace cudamatrix
