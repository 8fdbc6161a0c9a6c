#include "run/job/suite_metrics.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/text.hpp"

namespace cudamatrix::job {
namespace {

constexpr std::size_t kMostMetrics = 32;
constexpr std::size_t kLongestName = 64;
constexpr double kLargest = 1e18;  // of what no unit in use comes near

bool is_name(std::string_view name) {
    return !name.empty() && name.size() <= kLongestName && std::ranges::all_of(name, [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
               c == '_' || c == '-';
    });
}

// "GB/s", "cudaMemcpy": words for people, of one line.
bool is_word(std::string_view word) {
    return !word.empty() && word.size() <= kLongestName && text::printable(word) == word;
}

std::optional<double> number(const Json& metric, std::string_view name) {
    const auto* found = member(metric, name);
    if (found == nullptr || !found->is_number()) return std::nullopt;
    const auto value = found->get<double>();
    if (!std::isfinite(value) || value < 0 || value > kLargest) return std::nullopt;
    return value;
}

bool take_roof(const Json& json, Metric& metric) {
    const auto value = number(json, "roof_value");
    metric.roof = string_or(json, "roof");
    if (!is_word(metric.roof) || !value || *value <= 0) return false;
    metric.roof_value = *value;
    metric.ratio = metric.value / metric.roof_value;
    if (member(json, "goal") == nullptr) return true;
    const auto goal = number(json, "goal");
    metric.goal = goal.value_or(0);
    return goal.has_value();
}

std::optional<Metric> metric_from(const Json& json) {
    Metric metric;
    metric.name = string_or(json, "name");
    metric.unit = string_or(json, "unit");
    const auto value = number(json, "value");
    const auto rsd = number(json, "rsd");
    const auto* n = member(json, "n");
    if (!is_name(metric.name) || !is_word(metric.unit) || !value || !rsd) return std::nullopt;
    if (n == nullptr || !n->is_number_integer() || *n <= 0) return std::nullopt;
    metric.value = *value;
    metric.rsd = *rsd;
    metric.n = n->get<std::uint64_t>();
    if (member(json, "roof") != nullptr && !take_roof(json, metric)) return std::nullopt;
    return metric;
}

}  // namespace

std::optional<std::vector<Metric>> metrics_from(const Json& test) {
    std::vector<Metric> metrics;
    const auto* list = member(test, "metrics");
    if (list == nullptr) return metrics;
    if (!list->is_array() || list->size() > kMostMetrics) return std::nullopt;
    for (const auto& one : *list) {
        auto metric = metric_from(one);
        if (!metric) return std::nullopt;
        metrics.push_back(std::move(*metric));
    }
    return metrics;
}

}  // namespace cudamatrix::job
