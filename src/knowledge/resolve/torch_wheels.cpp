#include "knowledge/resolve/torch_wheels.hpp"

#include <algorithm>
#include <cstdlib>
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
    const bool bare = context.cell.text(Field::torch).find('+') == std::string_view::npos;
    for (const auto& row : context.facts.rows("torch_os_wheels")) {
        if (bare && row.text("default_index") == "false") continue;
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

namespace {

using Group = std::vector<FixOption>;

struct Wheel {
    Version release;
    Row row;
    int cuda = 0;             ///< 124 of cu124
    bool is_default = false;  ///< what the index serves without a variant
};

struct Wheels {
    std::vector<Wheel> same, newer, older;  ///< nearest first

    [[nodiscard]] Candidates tiers(bool names_variant) const {
        const auto group = [](const std::vector<Wheel>& wheels, bool with_variant) {
            Group out;
            for (const auto& wheel : wheels) {
                std::string value(wheel.row.text("torch"));
                if (with_variant || !wheel.is_default) value.append("+").append(wheel.row.text("variant"));
                out.push_back(set_to(Field::torch, value));
            }
            return out;
        };
        return {{group(same, true)}, {group(newer, names_variant), group(older, names_variant)}};
    }
};

void sort_by_nearness(Wheels& wheels, int named, bool names_variant) {
    const int wanted = named != 0 ? named : 1'000;  // from a CPU build the way leads to the newest CUDA
    const auto nearer_variant = [&](const Wheel& a, const Wheel& b) {
        if (!names_variant && a.is_default != b.is_default) return a.is_default;
        const int x = std::abs(a.cuda - wanted);
        const int y = std::abs(b.cuda - wanted);
        return x != y ? x < y : a.cuda > b.cuda;
    };
    const auto sort = [&](std::vector<Wheel>& group, bool newest_first) {
        std::stable_sort(group.begin(), group.end(), [&](const Wheel& a, const Wheel& b) {
            if (a.release != b.release) return newest_first ? a.release > b.release : a.release < b.release;
            return nearer_variant(a, b);
        });
    };
    sort(wheels.same, true);
    sort(wheels.newer, false);
    sort(wheels.older, true);
}

}  // namespace

Candidates other_torch(const Context& context, const std::vector<std::string>& variants) {
    const auto build = if_known(torch_build(context));
    if (!build) return {};
    const bool names_variant = context.cell.text(Field::torch).find('+') != std::string_view::npos;
    Wheels kept, yanked;
    for (const auto& row : context.facts.rows("torch_wheels")) {
        if (row.text("arch") != build->arch || row.confidence() == Confidence::unverified) continue;
        const auto variant = row.text("variant");
        if (variants.empty() ? variant == "cpu" : variant != variants.front()) continue;
        auto& wheels = lookup::is_yanked_build(context.facts, row) ? yanked : kept;
        const auto release = lookup::required_version(row, "torch");
        auto& group = release == build->torch.exact  ? wheels.same
                      : release > build->torch.exact ? wheels.newer
                                                     : wheels.older;
        group.push_back({release, row, cuda_number(variant), row.text("default_index") == "true"});
    }
    Candidates out;
    for (auto* wheels : {&kept, &yanked}) {
        sort_by_nearness(*wheels, cuda_number(build->torch.variant), names_variant);
        for (auto& tier : wheels->tiers(names_variant))
            out.push_back(std::move(tier));
    }
    return out;
}

}  // namespace cudamatrix::rules
