#include "base/json.hpp"

#include <algorithm>

#include "base/text.hpp"

namespace cudamatrix {
namespace {

// Of the byte with that number, from 1, or of the end of the text.
Location place_of(std::string_view text, std::size_t byte) {
    const auto before = text.substr(0, byte == 0 ? 0 : byte - 1);
    const auto line = static_cast<std::size_t>(std::ranges::count(before, '\n')) + 1;
    const auto start = before.rfind('\n');
    return {{}, line, before.size() - (start == std::string_view::npos ? 0 : start + 1) + 1};
}

}  // namespace

Result<Json> parse_json(std::string_view text, std::string_view what, std::size_t max_depth) {
    if (const auto bad = text::invalid_utf8(text))
        return input_failure(fmt::format("{}: byte {} is not valid UTF-8", what, *bad));
    bool too_deep = false;
    const auto watch = [&](int depth, Json::parse_event_t event, Json&) {
        // A container is announced with the depth of what it stands in.
        const bool opens =
            event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start;
        too_deep = too_deep || static_cast<std::size_t>(depth) + (opens ? 1 : 0) > max_depth;
        return !too_deep;
    };
    try {
        auto json = Json::parse(text, watch);
        if (too_deep) return input_failure(fmt::format("{}: nested deeper than {} levels", what, max_depth));
        return json;
    } catch (const Json::exception& error) {
        const auto* parse = dynamic_cast<const Json::parse_error*>(&error);
        const auto byte = parse != nullptr ? parse->byte : 0;
        auto failure = input_failure(fmt::format("{}: not valid JSON at byte {}", what, byte));
        failure.diagnostics.front().where = place_of(text, byte);
        return failure;
    }
}

std::string to_text(const Json& json, bool pretty) {
    return json.dump(pretty ? 2 : -1, ' ', false, Json::error_handler_t::replace);
}

void append_member(Json& object, std::string name, Json value) {
    auto& members = object.get_ref<Json::object_t&>();
    members.Json::object_t::Container::emplace_back(std::move(name), std::move(value));
}

const Json* member(const Json& json, std::string_view name) {
    if (!json.is_object()) return nullptr;
    const auto found = json.find(name);
    return found == json.end() ? nullptr : &*found;
}

std::string string_or(const Json& json, std::string_view name, std::string_view fallback) {
    const auto* found = member(json, name);
    return found != nullptr && found->is_string() ? found->get<std::string>() : std::string(fallback);
}

}  // namespace cudamatrix
