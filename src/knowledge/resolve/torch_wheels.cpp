#include "knowledge/resolve/torch_wheels.hpp"

#include <algorithm>
#include <optional>

#include "base/text.hpp"
#include "knowledge/resolve/resolve.hpp"

namespace cudamatrix::rules {

int cuda_number(std::string_view variant) {
    int number = 0;
    for (const char c : variant) {
        if (c >= '0' && c <= '9') number = number * 10 + (c - '0');
    }
    return number;
}

std::optional<Row> absent_index(const Facts& facts, std::string_view variant) {
    return facts.row(fmt::format("no-index-{}", variant));
}

bool no_such_index(const Facts& facts, std::string_view variant) {
    if (cuda_number(variant) == 0) return false;
    if (absent_index(facts, variant)) return true;
    int highest = 0;
    for (const auto& row : facts.rows("wheel_indexes")) {
        if (row.text("name") == variant) return false;
        highest = std::max(highest, cuda_number(row.text("name")));
    }
    return cuda_number(variant) < highest;
}

std::optional<OtherOs> other_os(const Context& context) {
    if (!context.cell.has(Field::os)) return std::nullopt;
    auto row = lookup::os(context.facts, context.cell.text(Field::os));
    if (!row || !row->has("wheels")) return std::nullopt;
    const auto os = row->text("wheels");
    return OtherOs{os, *row};
}

std::vector<Row> os_wheels(const Context& context, const OtherOs& os, const TorchBuild& build) {
    std::vector<Row> out;
    for (const auto& row : context.facts.rows("torch_os_wheels")) {
        if (row.text("torch") != build.torch.release->text("torch") || row.text("os") != os.os) continue;
        if (!context.cell.has(Field::arch) || row.text("arch") == build.arch) out.push_back(row);
    }
    return out;
}

bool names_cuda_variant(const Context& context) {
    const auto text = context.cell.text(Field::torch);
    const auto plus = text.find('+');
    return plus != std::string_view::npos && cuda_number(text.substr(plus + 1)) != 0;
}

bool wants_gpu(const Context& context) {
    return context.cell.has(Field::gpu) || context.cell.has(Field::compute);
}

bool silent_cpu_build(const Context& context, const TorchBuild& build) {
    const bool bare = context.cell.text(Field::torch).find('+') == std::string_view::npos;
    const auto elsewhere = build.torch.release->text("default_variant");
    return bare && build.torch.wheel && build.torch.variant == "cpu" && !elsewhere.empty() &&
           elsewhere != "cpu";
}

}  // namespace cudamatrix::rules
