// torch.compile refuses pythons whose frames Dynamo does not read yet; everything else of torch works there.
#include "knowledge/resolve/building.hpp"
#include "knowledge/rules/rule.hpp"
#include "knowledge/rules/stand_ins.hpp"

namespace cudamatrix::rules {
namespace {

bool free_threaded(const Version& python) {
    return python.suffix() == "t";
}

bool python_too_new(const Row& row, const Version& python) {
    const auto most = lookup::required_version(row, "python_max");
    return python > most && !most.covers(python);
}

// A bare 3.13t is its newest patch release.
bool takes(const Row& row, const Version& python) {
    if (python_too_new(row, python)) return false;
    if (!free_threaded(python)) return true;
    const auto least = Version::parse(row.text("free_threaded_min"));
    return least && (python >= *least || python.covers(*least));
}

bool has_wheel(const Row& wheel, const Version& python) {
    return contains(wheel.list("pythons"), python.major_minor() + python.suffix());
}

std::string reason(const Row& row, const Version& python) {
    if (!free_threaded(python) || python_too_new(row, python))
        return fmt::format("python {} is the newest that it takes", row.text("python_max"));
    if (!row.has("free_threaded_min")) return "it takes no free-threaded python";
    return fmt::format("python {}t is the oldest free-threaded one that it takes",
                       row.text("free_threaded_min"));
}

void judge_build(Ask& ask, const TorchBuild& build, const Version& python, bool has_python) {
    ask.question({Field::torch, Field::python}, fmt::format("whether it takes python {}", python.text()));
    const auto row = compile_row(ask.facts, build.torch.release->text("torch"));
    if (!row) {
        // No torch.compile there, or nobody who calls it.
        if (before_compile(ask.facts, build.torch.exact) || !has_python) return;
        ask.unknown(Field::torch, "no fact describes torch.compile of {}", build.text);
    } else if (takes(*row, python)) {
        ask.reword(fmt::format("whether torch.compile of {} takes python {}", build.text, python.text()));
        ask.accept({row->ref()});
    } else {
        ask.reject("torch.compile of {} refuses python {}: {}; eager mode works", build.text, python.text(),
                   reason(*row, python))
            .because(row->ref())
            .accepted_other(Field::torch)
            .fix(Field::python, row->text("python_max"));
    }
}

void judge_dynamo_supports_python(Ask& ask) {
    if (!wants_torch(ask)) return;
    const auto python = Version::parse(ask.cell.text(Field::python));
    if (!python || python->size() < 2) return;
    if (const auto own = image_torch(ask)) {
        // Of another python than the image's it is image-matches-cell that speaks.
        ask.question(own->about(ask, Field::python),
                     fmt::format("whether its torch.compile takes python {}", python->text()));
        return judge_stand_ins(
            ask, *own, [&](Ask& each, const TorchBuild& build) { judge_build(each, build, *python, true); });
    }
    const auto build = if_known(torch_build(ask));
    // Unknown words are the install stage's findings. A python without a wheel is one, too, and torch that
    // is built from source meets the refusal all the same.
    if (!build || !build->torch.wheel) return;
    judge_build(ask, *build, *python, has_wheel(*build->torch.wheel, *python));
}

}  // namespace

Rule dynamo_supports_python() {
    return {
        .id = "dynamo-supports-python",
        .stage = Stage::torch_compile,
        .summary = "torch.compile takes the python, which is not the same as having a wheel for it.",
        .why =
            "Wheels for a new python come out before Dynamo can read its bytecode, and torch.compile "
            "raises at once: \"Dynamo is not supported on Python 3.12+\". Everything else "
            "works: the cell is degraded unless `stages` asks for torch_compile. Releases before 2.0 have no torch.compile and are not asked.",
        .fails = "torch: 2.3.1+cu121, python: \"3.12\"",
        .passes = "torch: 2.4.1+cu121, python: \"3.12\"",
        .reads = {Field::torch, Field::arch, Field::python, Field::image, Field::family, Field::cuda,
                  Field::os},
        .needs = {{Field::torch}, {Field::python}},
        .judge = judge_dynamo_supports_python};
}

}  // namespace cudamatrix::rules
