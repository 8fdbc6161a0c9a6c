#include "run/prove/rejection_parts.hpp"

#include "base/text.hpp"
#include "render/image/image_plan.hpp"

namespace cudamatrix::job {
namespace {

constexpr std::string_view kKernel = R"(__global__ void attempt(int* out) { *out = 1; }

int main() {
    attempt<<<1, 1>>>(nullptr);
    return 0;
}
)";

}  // namespace

std::string text_of(const Cell& cell, Field field) {
    const auto* value = cell.get(field);
    return value == nullptr ? std::string() : value->text;
}

std::variant<Image, std::string> image_of(const RejectedCell& rejected, FieldSet kept) {
    Cell cell;
    for (const auto& field : all_fields()) {
        if (kept.contains(field.field)) cell.set(field.field, rejected.cell.get(field.field));
    }
    auto plan = plan_images(rejected.matrix, {{cell, "attempt"}}, rejected.facts);
    if (plan.images.empty()) return plan.refusals.front().reason;
    if (!plan.images.front().references().empty())
        return std::string(
            "its base comes from a registry: rejections are attempted on bootstrapped bases only");
    return std::move(plan.images.front());
}

std::vector<std::string> signatures_of(const rules::Rule& rule,
                                       const std::vector<std::pair<std::string, std::string>>& names) {
    std::vector<std::string> filled;
    for (const auto signature : rule.proof.signatures) {
        std::string text(signature);
        for (const auto& [name, value] : names)
            text = text::replace_all(text, "{" + name + "}", value);
        filled.push_back(std::move(text));
    }
    return filled;
}

void add_steps(PlannedAttempt& planned, std::vector<std::string> attempt, std::vector<std::string> control) {
    auto& steps = planned.request.steps;
    steps.push_back({std::string(kAttemptStep), {}, std::move(attempt), kStepSeconds});
    steps.push_back({std::string(kControlStep), {}, std::move(control), kStepSeconds});
}

Artifact kernel_file() {
    return {"kernel.cu", std::string(kKernel)};
}

}  // namespace cudamatrix::job
