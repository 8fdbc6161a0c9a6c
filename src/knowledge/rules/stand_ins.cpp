#include "knowledge/rules/stand_ins.hpp"

#include <algorithm>

namespace cudamatrix::rules {
namespace {

std::optional<TorchBuild> stand_in(const Context& context, const ImageTorch& torch,
                                   const std::optional<Version>& release) {
    if (!release) return std::nullopt;
    auto row = context.facts.row("torch-" + release->text());
    if (!row) return std::nullopt;
    const auto arch = context.cell.text(Field::arch);
    lookup::Torch out{*release, {}, false, row, std::nullopt};
    return TorchBuild{std::move(out), torch.text, std::string(arch.empty() ? "x86_64" : arch), std::nullopt};
}

bool say_the_same(const Findings& a, const Findings& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Finding& x, const Finding& y) {
        return x.severity == y.severity && x.aspect == y.aspect;
    });
}

void add_image(const ImageTorch& torch, std::vector<Field>& about) {
    if (std::find(about.begin(), about.end(), torch.field) == about.end()) about.push_back(torch.field);
}

}  // namespace

std::optional<Version> minor_before(const Facts& facts, const std::optional<Version>& release) {
    std::optional<Version> out;
    if (!release) return out;
    for (const auto& row : facts.rows("torch_releases")) {  // sorted
        const auto torch = lookup::required_version(row, "torch");
        if (torch >= *release) break;
        if (!out || torch.major_minor() != out->major_minor()) {
            if (torch.major_minor() != release->major_minor()) out = torch;
        }
    }
    return out;
}

Answer unknown_of(Ask& ask, const ImageTorch& torch, std::string_view what) {
    auto answer = ask.unknown(torch.field, "no fact says {} {}", what, torch.image);
    answer.because(torch.facts());
    return answer;
}

void judge_stand_ins(Ask& ask, const ImageTorch& torch,
                     const std::function<void(Ask&, const TorchBuild&)>& judge) {
    const auto release = stand_in(ask, torch, torch.release);
    const auto before = stand_in(ask, torch, minor_before(ask.facts, torch.release));
    if (!release || !before) {
        unknown_of(ask, torch, "which torch is in");
        return;
    }
    Findings found, other;
    Acceptances passes;
    auto of_before = ask.into(other, nullptr);
    auto of_release = ask.into(found, ask.accepted == nullptr ? nullptr : &passes);
    judge(of_before, *before);
    judge(of_release, *release);
    if (!say_the_same(found, other)) {
        unknown_of(ask, torch,
                   fmt::format("how far torch {} had come when it was taken for", torch.release->text()));
        return;
    }
    for (auto& each : found) {
        add_image(torch, each.about);
        ask.out().push_back(std::move(each));
        Answer(ask.out().back()).because(torch.facts());
    }
    for (auto& each : passes) {
        add_image(torch, each.about);
        ask.accepted->push_back(std::move(each));
    }
}

}  // namespace cudamatrix::rules
