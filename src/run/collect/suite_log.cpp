#include "run/collect/suite_log.hpp"

#include <map>
#include <optional>

#include "base/json.hpp"
#include "base/text.hpp"

namespace cudamatrix::collect {
namespace {

struct Head {
    std::string run, cell;
    bool is_plan = false;
};

// What tells a line of the suite from everything else that a log can hold.
std::optional<Head> head_of(std::string_view line) {
    if (line.front() != '{') return std::nullopt;
    const auto json = parse_json(line, "suite");
    if (!json.ok() || !json->is_object() || member(*json, "v") == nullptr) return std::nullopt;
    const auto *run = member(*json, "run"), *cell = member(*json, "cell");
    if (run == nullptr || cell == nullptr || !run->is_string() || !cell->is_string()) return std::nullopt;
    return Head{run->get<std::string>(), cell->get<std::string>(), member(*json, "plan") != nullptr};
}

}  // namespace

SuiteLog read_suite_log(std::string_view text) {
    SuiteLog log;
    std::map<std::pair<std::string, std::string>, std::size_t> current;  // run and cell -> attempt
    std::size_t number = 0;
    while (!text.empty()) {
        const auto end = text.find('\n');
        const auto line = text::trim(text.substr(0, end));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        ++number;
        if (line.empty()) continue;
        auto head = head_of(line);
        if (!head) {
            if (log.foreign++ == 0) log.first_foreign = number;
            continue;
        }
        const auto [found, is_new] = current.emplace(std::pair{head->run, head->cell}, log.attempts.size());
        if (is_new || (head->is_plan && log.attempts[found->second].planned)) {
            found->second = log.attempts.size();
            log.attempts.push_back({std::move(head->run), std::move(head->cell), {}, false});
        }
        auto& attempt = log.attempts[found->second];
        attempt.planned = attempt.planned || head->is_plan;
        attempt.lines.emplace_back(number, line);
    }
    return log;
}

}  // namespace cudamatrix::collect
