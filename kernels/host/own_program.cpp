#include "kernels/host/own_program.hpp"

#include <sys/stat.h>

#include <utility>

#include "kernels/host/driver_verdict.hpp"
#include "kernels/host/static_file.hpp"
#include "kernels/registry.hpp"
#include "kernels/support/json.hpp"

namespace cudamatrix::suite {
namespace {

constexpr const char* kOwnTest = "cmp.vadd";
constexpr const char* kOwnKernel = "cudamatrix_vadd";

std::optional<fatbin::Arch> plain_arch(const std::string& text) {
    auto arch = fatbin::parse_arch(text);
    if (arch) arch->variant = fatbin::Variant::base;
    return arch;
}

/// What suite_build asked nvcc for, from static.jsonl.
void read_asked(const json::Value& record, OwnProgram& program) {
    const json::Value* evidence = record.find("evidence");
    if (const json::Value* computes = evidence->find("compute")) {
        for (const json::Value& item : computes->items()) {
            if (const auto arch = plain_arch(item.text())) program.asked_sass.push_back(*arch);
        }
    }
    program.asked_ptx = plain_arch(evidence->text_of("ptx"));
}

}  // namespace

std::optional<Record> read_own_program(const Context& context, OwnProgram& program) {
    std::string error;
    const auto stored = read_static_file(context.prefix, error);
    if (!stored) return Record::broken("no_static_file", error);
    if (built_without_nvcc(*stored)) return Record::skip("no_nvcc", "the suite was built without nvcc");
    read_asked(*stored, program);
    const std::string name = find_test(kOwnTest)->program();
    const std::string path = context.prefix + "/bin/" + name;
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0)
        return Record::skip("prereq_failed", name + " was not built: see static.compile");
    const fatbin::FileContents file = fatbin::read_file(path);
    if (!file.contents.error.empty()) return Record::broken("no_code", path + ": " + file.contents.error);
    program.entries = fatbin::entries_with_kernels(file.contents, kOwnKernel);
    if (program.entries.empty()) return Record::broken("no_code", path + " holds no " + kOwnKernel);
    const std::size_t container = program.entries.front().container;
    const fatbin::Place place = file.contents.places.at(container);
    const fatbin::Bytes bytes = file.file.bytes().sub(place.offset, place.size);
    program.image.assign(reinterpret_cast<const char*>(bytes.data), bytes.size);
    for (fatbin::Entry& entry : program.entries) {
        if (entry.container != container)
            return Record::broken("no_code", path + " holds " + kOwnKernel + " in two containers");
        entry.bytes = {};  // they go with the file
        entry.section = {};
    }
    return std::nullopt;
}

std::optional<fatbin::Arch> cell_arch(const Context& context) {
    return plain_arch(context.compute);
}

Record run_own_program(const Context& context, const OwnProgram& program, fatbin::Kind kind,
                       const std::vector<CodeMeaning>& meanings, const char* done_by) {
    DriverOptions options;
    options.root = context.root;
    const DriverFacts driver = probe_driver(options);
    if (auto without = without_gpu(driver, context)) return *without;
    const AddRun run = run_add(driver, program.image, kOwnKernel);
    if (!run.call.empty()) return add_failure(run, meanings);
    std::vector<unsigned> arches;
    for (const fatbin::Entry& entry : program.entries) {
        if (entry.kind == kind) arches.push_back(arch_macro(entry.arch));
    }
    Record record;
    check_add(record, run, arches);
    record = judge(record, "mismatch", std::to_string(kAddLength) + " sums exact, " + done_by);
    record.setup_ms = run.load_ms;
    return record;
}

}  // namespace cudamatrix::suite
