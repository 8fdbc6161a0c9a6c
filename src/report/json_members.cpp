#include "report/json_members.hpp"

#include <utility>

#include "report/json.hpp"
#include "report/layout.hpp"

namespace cudamatrix::report {

Result<Json> parse_report(std::string_view text, std::string_view file) {
    auto json = parse_json(text, text::printable(file));
    if (json.ok()) return json;
    auto failure = std::move(json).failure();
    auto& diagnostic = failure.diagnostics.front();
    if (diagnostic.where.line != 0) {
        diagnostic.where.file = file;
        diagnostic.message = "not valid JSON";
    }
    return failure;
}

std::string JsonPlace::path() const {
    if (above == nullptr) return "$";
    return above->path() + (name.empty() ? fmt::format("[{}]", index) : "." + clipped(name, 60));
}

void Mistakes::add(const JsonPlace& at, std::string_view what) {
    if (++number_ > kMost) return;
    failure_.diagnostics.push_back(Diagnostic::error(fmt::format("{}: {}", at.path(), what), {file_, 0, 0}));
}

Failure Mistakes::take() && {
    if (number_ > kMost)
        failure_.diagnostics.back().notes.push_back(
            fmt::format("and {}", text::count(number_ - kMost, "more mistake")));
    return std::move(failure_);
}

std::string value_text(const Json& json) {
    if (json.is_object()) return "an object";
    if (json.is_array()) return "a list";
    return clipped(to_text(json, false), 60);
}

Members::Members(Mistakes& mistakes, const Json& json, const JsonPlace& at)
    : mistakes_(mistakes), json_(json), at_(at) {
    if (!json.is_object()) mistakes.add(at, fmt::format("found {}, expected an object", value_text(json)));
}

const Json* Members::find(std::string_view name, bool is_required) const {
    const auto* found = member(json_, name);
    if (found == nullptr && is_required && json_.is_object()) mistakes_.add({&at_, name}, "missing");
    return found;
}

void Members::wrong(std::string_view name, const Json& found, std::string_view expected) const {
    mistakes_.add({&at_, name}, fmt::format("found {}, expected {}", value_text(found), expected));
}

std::string Members::text(std::string_view name) const {
    const auto* found = find(name);
    if (found != nullptr && found->is_string()) return found->get<std::string>();
    if (found != nullptr) wrong(name, *found, "a text");
    return {};
}

std::string Members::filled(std::string_view name) const {
    auto value = text(name);
    if (const auto* found = find(name, false); value.empty() && found != nullptr && found->is_string())
        wrong(name, *found, "a text that is not empty");
    return value;
}

bool Members::truth(std::string_view name, bool is_required) const {
    const auto* found = find(name, is_required);
    if (found != nullptr && !found->is_boolean()) wrong(name, *found, "true or false");
    return found != nullptr && found->is_boolean() && found->get<bool>();
}

std::uint64_t Members::whole(std::string_view name) const {
    const auto* found = find(name);
    if (found != nullptr && found->is_number_unsigned()) return found->get<std::uint64_t>();
    if (found != nullptr) wrong(name, *found, "a whole number");
    return 0;
}

double Members::number(std::string_view name) const {
    const auto* found = find(name);
    if (found != nullptr && found->is_number() && found->get<double>() >= 0) return found->get<double>();
    if (found != nullptr) wrong(name, *found, "a number that is not negative");
    return 0;
}

std::vector<std::string> Members::texts(std::string_view name, bool is_required) const {
    std::vector<std::string> out;
    each(
        name,
        [&](const Json& json, const JsonPlace& at) {
            if (!json.is_string())
                return mistakes_.add(at, fmt::format("found {}, expected a text", value_text(json)));
            out.push_back(json.get<std::string>());
        },
        is_required);
    return out;
}

}  // namespace cudamatrix::report
