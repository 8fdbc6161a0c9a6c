#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fatbin/cover.hpp"
#include "fatbin/reader.hpp"
#include "kernels/host/host_tests.hpp"
#include "kernels/host/paths.hpp"
#include "kernels/host/static_file.hpp"
#include "kernels/registry.hpp"
#include "kernels/support/record_json.hpp"

namespace cudamatrix::suite {
namespace {

/// "sass 7.5", "ptx 9.0": what suite_build asked nvcc for, from static.jsonl.
std::vector<std::string> expected_code(const json::Value& evidence) {
    std::vector<std::string> expected;
    if (const json::Value* computes = evidence.find("compute")) {
        for (const json::Value& item : computes->items()) {
            auto arch = fatbin::parse_arch(item.text());
            if (!arch) continue;
            arch->variant = fatbin::Variant::base;  // ordinary programs are built in the plain form only
            expected.push_back("sass " + fatbin::to_text(*arch));
        }
    }
    const std::string ptx = evidence.text_of("ptx");
    if (auto arch = fatbin::parse_arch(ptx)) {
        arch->variant = fatbin::Variant::base;
        expected.push_back("ptx " + fatbin::to_text(*arch));
    }
    std::sort(expected.begin(), expected.end());
    expected.erase(std::unique(expected.begin(), expected.end()), expected.end());
    return expected;
}

/// The same form from what was found: the PTX ISA is the compiler's, nobody asked for it.
std::vector<std::string> without_isa(const std::vector<std::string>& lines) {
    std::vector<std::string> result;
    for (const std::string& line : lines)
        result.push_back(line.substr(0, line.find('@')));
    std::sort(result.begin(), result.end());
    return result;
}

struct Device {
    std::optional<fatbin::Arch> arch;
    std::optional<fatbin::PtxIsa> isa;
};

/// How a file's code would run on the cell's device, as a check and as text.
std::string add_code_path(Record& record, const std::string& name, const fatbin::Offer& offer,
                          const Device& device) {
    if (!device.arch) return "";
    const fatbin::Cover cover = fatbin::cover(offer, *device.arch, device.isa);
    record.check(name + " code path", cover.code_path != fatbin::CodePath::none, cover.text);
    if (cover.code_path == fatbin::CodePath::none && record.fault.empty()) {
        const bool ptx_too_new = cover.text.find("PTX ISA") != std::string::npos;
        record.fault = ptx_too_new ? "F7" : "F6";
    }
    return cover.text;
}

/// A library's containers of "a" or "f" code only are single kernels; whether its ordinary ones run is told
/// by the plain code, if there is any.
fatbin::Offer ordinary(fatbin::Offer offer) {
    std::set<fatbin::Code> plain;
    for (const fatbin::Code& code : offer.loaded) {
        if (code.arch.variant == fatbin::Variant::base) plain.insert(code);
    }
    if (!plain.empty()) offer.loaded = std::move(plain);
    return offer;
}

class Examination {
  public:
    explicit Examination(const Context& context) : context_(context) {
        if (!context.compute.empty()) device_.arch = fatbin::parse_arch(context.compute);
        if (!context.ptx_isa.empty()) device_.isa = fatbin::parse_ptx_isa(context.ptx_isa);
    }

    /// The suite's own programs: exactly what was asked for, in those containers that hold our kernels.
    void own_programs(const std::vector<std::string>& expected) {
        for (const Test& test : all_tests()) {
            const std::string path = context_.prefix + "/bin/" + test.program();
            // A program that did not compile is static.compile's finding, not ours.
            if (test.runs_by != RunsBy::cuda || !test.variant.empty() || !file_exists(path)) continue;
            const fatbin::FileContents file = fatbin::read_file(path);
            record_.check(test.program() + " readable", file.contents.error.empty(), file.contents.error);
            const auto entries = fatbin::entries_with_kernels(file.contents, kKernelPrefix);
            const auto found = fatbin::summary(entries);
            record_.check(test.program() + " code", without_isa(found) == expected,
                          "found " + joined(found) + "; asked for " + joined(expected));
            const auto codes = fatbin::codes(entries);
            const std::string code_path =
                add_code_path(record_, test.program(), {{codes.begin(), codes.end()}, {}}, device_);
            note(found, code_path);
            programs_ += 1;
        }
    }

    /// Files of the image that the caller names, torch's library for one.
    void named_files() {
        for (const std::string& path : context_.fatbins) {
            const fatbin::FileContents file = fatbin::read_file(path);
            record_.check(file_name(path) + " readable", file.contents.error.empty(),
                          path + ": " + file.contents.error);
            const auto entries = fatbin::entries_with_code(file.contents);
            const auto offer = fatbin::offer_of(file.contents, fatbin::containers_with_code(file.contents));
            const std::string code_path = add_code_path(record_, file_name(path), ordinary(offer), device_);
            // Where the suite has no device code of its own, the first file speaks for the image.
            if (programs_ == 0 && files_.items().empty()) note(fatbin::summary(entries), code_path);
            json::Value facts = json::Value::object();
            facts.set("path", path);
            facts.set("fatbin", fatbin::summary(entries));
            facts.set("containers", file.contents.containers);
            if (!code_path.empty()) facts.set("code_path", code_path);
            files_.push_back(std::move(facts));
        }
    }

    Record finish(bool without_nvcc) {
        if (programs_ == 0 && context_.fatbins.empty()) {
            if (without_nvcc) return Record::skip("no_nvcc", "the suite was built without nvcc");
            return Record::skip("prereq_failed", "no program was built: see static.compile");
        }
        const std::string summary = code_path_.empty() ? joined(code_) : code_path_;
        const std::string fault = record_.fault;
        Record record = judge(record_, "fatbin", summary);
        if (record.status == Status::fail) {
            if (!fault.empty()) record.reason = "no_road";
            record.hint = fault == "F7"   ? "add SASS for this compute capability, or use a newer driver"
                          : fault == "F6" ? "add this compute capability to the architecture list"
                                          : "";
        } else {
            record.fault.clear();
        }
        add_evidence(record, "fatbin", code_);
        if (!code_path_.empty()) add_evidence(record, "code_path", code_path_);
        if (!files_.items().empty()) add_evidence(record, "files", files_);
        return record;
    }

  private:
    void note(const std::vector<std::string>& found, const std::string& code_path) {
        for (const std::string& line : found) {
            if (std::find(code_.begin(), code_.end(), line) == code_.end()) code_.push_back(line);
        }
        if (code_path_.empty()) code_path_ = code_path;
    }

    const Context& context_;
    Device device_;
    Record record_;
    std::vector<std::string> code_;  ///< of the suite's programs, or of the first named file
    std::string code_path_;          ///< likewise
    json::Value files_ = json::Value::array();
    int programs_ = 0;
};

}  // namespace

Record static_fatbin(const Context& context) {
    std::string error;
    const auto stored = read_static_file(context.prefix, error);
    if (!stored) return Record::broken("no_static_file", error);
    Examination examination(context);
    const bool without_nvcc = built_without_nvcc(*stored);
    if (!without_nvcc) examination.own_programs(expected_code(*stored->find("evidence")));
    examination.named_files();
    return examination.finish(without_nvcc);
}

}  // namespace cudamatrix::suite
