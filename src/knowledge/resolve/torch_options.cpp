#include "knowledge/resolve/torch_options.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "base/text.hpp"
#include "knowledge/resolve/resolve.hpp"

namespace cudamatrix::rules {
namespace {

struct Candidate {
    Version release;
    Row wheel;
    int cuda = 0;             ///< 124 of cu124
    bool is_default = false;  ///< what the index serves without a variant
    bool yanked = false;
};

FixOption option_of(const Candidate& candidate, bool names_variant) {
    std::string value(candidate.wheel.text("torch"));
    if (names_variant || candidate.wheel.text("default_index") != "true") {
        value.append("+").append(candidate.wheel.text("variant"));
    }
    return set_to(Field::torch, value);
}

}  // namespace

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

std::vector<FixOption> torch_options(const Context& context, const std::function<bool(const Row&)>& fits) {
    if (!context.wants_fixes) return {};
    const auto build = if_known(torch_build(context));
    if (!build) return {};

    std::optional<Candidate> same, newer, older;
    const bool names_variant = context.cell.text(Field::torch).find('+') != std::string_view::npos;
    const int named = cuda_number(build->torch.variant);
    const int wanted = named != 0 ? named : 1'000;  // from a CPU build the way leads to the newest CUDA
    const auto nearer = [&](const Candidate& a, const Candidate& b) {
        if (!names_variant && a.is_default != b.is_default) return a.is_default;
        const int x = std::abs(a.cuda - wanted);
        const int y = std::abs(b.cuda - wanted);
        return x != y ? x < y : a.cuda > b.cuda;
    };
    // A build that was yanked is taken only where there is no other.
    const auto improve = [&](std::optional<Candidate>& best, const Candidate& candidate,
                             bool closer_release) {
        if (best && best->yanked != candidate.yanked) {
            if (best->yanked) best = candidate;
        } else if (!best || closer_release ||
                   (best->release == candidate.release && nearer(candidate, *best))) {
            best = candidate;
        }
    };
    for (const auto& wheel : context.facts.rows("torch_wheels")) {
        if (wheel.text("arch") != build->arch || wheel.confidence() == Confidence::unverified) continue;
        if (wheel.text("variant") == "cpu" || !fits(wheel)) continue;
        const auto release = lookup::required_version(wheel, "torch");
        const Candidate candidate{release, wheel, cuda_number(wheel.text("variant")),
                                  wheel.text("default_index") == "true",
                                  lookup::is_yanked_build(context.facts, wheel)};
        if (release == build->torch.exact) {
            improve(same, candidate, false);
        } else if (release > build->torch.exact) {
            improve(newer, candidate, false);  // the rows are sorted
        } else {
            improve(older, candidate, older && release > older->release);
        }
    }
    const auto is_kept = [](const std::optional<Candidate>& one) { return one && !one->yanked; };
    if (is_kept(same) || is_kept(newer) || is_kept(older)) {
        for (auto* one : {&same, &newer, &older}) {
            if (!is_kept(*one)) one->reset();
        }
    }
    std::vector<FixOption> options;
    if (same) options.push_back(option_of(*same, true));
    if (!same && newer) options.push_back(option_of(*newer, names_variant));
    if (!same && older) options.push_back(option_of(*older, names_variant));
    return options;
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
