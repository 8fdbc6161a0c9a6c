// Releases of CUDA that are known to compute wrong results. The image's toolkit is judged; a wheel brings
// libraries of its own.
#include "knowledge/resolve/resolve.hpp"
#include "knowledge/rules/all_rules.hpp"

namespace cudamatrix::rules {
namespace {

// How the defect counts for the cell: not on hardware that it spares; as a note where it is limited to some
// hardware and no GPU is given, or none that facts know.
std::optional<Severity> weight(const Context& context, const Row& defect) {
    if (!defect.has("compute")) return Severity::warning;
    if (!context.cell.has(Field::gpu) && !context.cell.has(Field::compute)) return Severity::note;
    const auto resolved = device(context);
    const auto* known = std::get_if<Device>(&resolved);
    if (known == nullptr) return Severity::note;
    if (!contains(defect.list("compute"), known->compute)) return std::nullopt;
    return Severity::warning;
}

void judge(Ask& ask) {
    const auto cuda = image_cuda(ask);
    if (std::holds_alternative<Unresolved>(cuda)) return;  // the rules that need it say so
    const auto& exact = std::get<lookup::Cuda>(cuda).exact;
    for (const auto& defect : ask.facts.rows("known_defects")) {
        if (exact < lookup::required_version(defect, "first") ||
            lookup::required_version(defect, "last") < exact)
            continue;
        const auto computes = listed(defect.list("compute"));
        ask.question(
            {Field::cuda},
            fmt::format("whether the defect of CUDA {} on compute {} spares the GPU", exact.text(), computes),
            defect.id());
        const auto severity = weight(ask, defect);
        if (!severity) {
            ask.record_pass({defect.ref()});
            continue;
        }
        const auto fixed = defect.text("fixed_in");
        auto answer = ask.say(
            *severity, fmt::format("CUDA {} has a known defect{}: {}{}", exact.text(),
                                   computes.empty() ? "" : " on compute " + computes, defect.text("what"),
                                   fixed.empty() ? "" : fmt::format("; repaired in {}", fixed)));
        answer.because(defect.ref());
        if (!fixed.empty()) answer.fix(Field::cuda, fixed);
    }
}

}  // namespace

Rule known_defect() {
    return {
        .id = "known-defect",
        .stage = Stage::runtime,
        .summary = "The CUDA of the image is not a release that is known to compute wrong results.",
        .why =
            "A few releases give wrong results without any error, on some hardware and for some operations. "
            "Nothing fails; only the numbers are wrong, which no test of the image notices.",
        .fails = "cuda: 13.2.1, gpu: B200",
        .passes = "cuda: 13.2.2, gpu: B200",
        .reads = {Field::cuda, Field::gpu, Field::compute},
        .needs = {{Field::cuda}},
        .judge = judge};
}

}  // namespace cudamatrix::rules
