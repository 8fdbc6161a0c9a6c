#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "fatbin/cover.hpp"
#include "fatbin/object_files.hpp"
#include "fatbin/reader.hpp"
#include "kernels/host/disassembler.hpp"
#include "kernels/host/host_tests.hpp"
#include "kernels/host/listing.hpp"
#include "kernels/host/opcodes.hpp"
#include "kernels/host/paths.hpp"
#include "kernels/host/static_file.hpp"
#include "kernels/registry.hpp"
#include "kernels/support/record_json.hpp"

namespace cudamatrix::suite {
namespace {

std::string capability(const fatbin::Arch& arch) {
    return std::to_string(arch.major) + "." + std::to_string(arch.minor);
}

bool at_least(const std::string& capability, std::string_view bound) {
    return bound.empty() || compare_versions(capability, std::string(bound)) >= 0;
}

/// PTX by which a kernel leaves something behind. Without any it is empty, whatever else it computes.
bool leaves_a_mark(const std::set<std::string>& opcodes) {
    return std::any_of(opcodes.begin(), opcodes.end(), [](const std::string& opcode) {
        return opcode_matches("st.*|atom.*|red.*|wmma.store.*|cp.*|call*|trap", opcode);
    });
}

bool is_tiny(const std::string& kernel) {
    return std::find(std::begin(kTinyKernels), std::end(kTinyKernels), kernel) != std::end(kTinyKernels);
}

/// Our kernels in a cubin that are as small as one that does nothing.
std::vector<std::string> empty_in(const fatbin::Entry& entry) {
    std::vector<std::string> empty;
    const fatbin::ElfFile elf = fatbin::read_elf(entry.bytes);
    for (const std::string_view function : fatbin::functions(entry)) {
        const std::string name(function);
        if (name.rfind(kKernelPrefix, 0) != 0 || is_tiny(name)) continue;
        for (const fatbin::ElfSection& section : elf.sections) {
            if (section.name == ".text." + name && section.size <= kEmptyKernel) empty.push_back(name);
        }
    }
    return empty;
}

class OpcodeSearch {
  public:
    OpcodeSearch(const Context& context, const std::string& nvcc)
        : context_(context), disassembler_(Disassembler::find(nvcc)) {}

    void program(const Test& test) {
        const std::string path = context_.prefix + "/bin/" + test.program();
        const fatbin::FileContents file = fatbin::read_file(path);
        const auto entries = fatbin::entries_with_kernels(file.contents, kKernelPrefix);
        record_.check(test.program() + " readable", file.contents.error.empty() && !entries.empty(),
                      file.contents.error.empty() ? "none of our kernels is in it" : file.contents.error);
        const auto device = fatbin::parse_arch(context_.compute);
        if (device)
            cover_ = fatbin::cover(fatbin::codes(entries), *device, fatbin::parse_ptx_isa(context_.ptx_isa));
        found_ = json::Value::array();
        bool ptx = false;
        for (const fatbin::Entry& entry : entries) {
            ptx = ptx || entry.kind == fatbin::Kind::ptx;
            if (is_looked_at(test, entry)) code(test, entry);
        }
        if (!ptx) without_ptx_.push_back(test.program());
        if (!found_.items().empty()) opcodes_.set(test.program(), found_);
        programs_ += 1;
    }

    Record finish() {
        if (programs_ == 0) return Record::skip("prereq_failed", "no program was built: see static.compile");
        const bool sass = disassembler_.missing().empty();
        const std::string summary = std::to_string(in_ptx_) + " instructions in the PTX of " +
                                    std::to_string(programs_) + " programs, " +
                                    (sass ? std::to_string(in_sass_) + " in their machine code"
                                          : "machine code not looked at: " + disassembler_.missing());
        Record record = judge(record_, empty_ ? "empty_kernel" : "opcodes", summary);
        if (record.status == Status::fail && empty_) {
            record.fault = "F6";
            record.hint = "build for the compute capability from which the kernel has code";
        }
        add_evidence(record, "opcodes", opcodes_);
        add_evidence(record, "sass",
                     sass ? "read by nvdisasm " + disassembler_.version()
                          : "not looked at: " + disassembler_.missing());
        if (!unread_.empty()) add_evidence(record, "sass_unread", unread_);
        if (!without_ptx_.empty()) add_evidence(record, "without_ptx", without_ptx_);
        return record;
    }

  private:
    /// Is it this code that the cell's GPU runs?
    [[nodiscard]] bool runs_on_cell(const fatbin::Entry& entry) const {
        return cover_ && cover_->code_path != fatbin::CodePath::none && cover_->code.kind == entry.kind &&
               cover_->code.arch == entry.arch;
    }

    /// Below a test's own bound its kernel may be empty, unless the cell's GPU, which has to run the test,
    /// runs it.
    [[nodiscard]] bool is_looked_at(const Test& test, const fatbin::Entry& entry) const {
        if (entry.kind != fatbin::Kind::ptx && entry.kind != fatbin::Kind::sass) return false;
        return at_least(capability(entry.arch), test.min_cc) ||
               (runs_on_cell(entry) && at_least(context_.compute, test.min_cc));
    }

    /// One check for each piece of code: its note names the first thing that is wrong with it.
    void code(const Test& test, const fatbin::Entry& entry) {
        const bool ptx = entry.kind == fatbin::Kind::ptx;
        const std::string name = (ptx ? "ptx " : "sass ") + fatbin::to_text(entry.arch);
        std::string wrong = ptx ? wrong_in_ptx(test, entry, name) : wrong_in_sass(test, entry, name);
        const bool here = !wrong.empty() && !at_least(capability(entry.arch), test.min_cc);
        if (here) wrong += ", and this is what runs on " + context_.compute;
        record_.check(test.program() + " " + name, wrong.empty(), wrong);
    }

    std::string wrong_in_ptx(const Test& test, const fatbin::Entry& entry, const std::string& name) {
        if (entry.compressed) return "the PTX is compressed and cannot be read";
        const std::string_view text(reinterpret_cast<const char*>(entry.bytes.data), entry.bytes.size);
        const Listing listing = list_ptx(text.substr(0, text.find('\0')));
        for (const auto& [kernel, opcodes] : listing) {
            if (kernel.rfind(kKernelPrefix, 0) == 0 && !leaves_a_mark(opcodes)) return is_empty(kernel);
        }
        return missing_in(listing, test, Language::ptx, entry, name);
    }

    std::string wrong_in_sass(const Test& test, const fatbin::Entry& entry, const std::string& name) {
        const auto empty = empty_in(entry);
        if (!empty.empty()) return is_empty(joined(empty));
        if (!disassembler_.missing().empty() || !is_wanted(test, Language::sass)) return "";
        // The tool takes half a second to start: where the cell's GPU is known, what others run is not read.
        if (cover_ && !runs_on_cell(entry)) return "";
        std::string error;
        const Listing listing = disassembler_.read(entry.bytes, error);
        if (error.empty()) return missing_in(listing, test, Language::sass, entry, name);
        unread_.push_back(test.program() + " " + name + ": " + error);
        return "";
    }

    std::string is_empty(const std::string& kernel) {
        empty_ = true;
        return kernel + " is empty";
    }

    [[nodiscard]] static bool is_wanted(const Test& test, Language language) {
        return std::any_of(
            std::begin(kWantedOpcodes), std::end(kWantedOpcodes),
            [&](const WantedOpcode& wanted) { return wanted.id == test.id && wanted.language == language; });
    }

    /// The first instruction of the list that the code lacks; notes those that it has.
    std::string missing_in(const Listing& listing, const Test& test, Language language,
                           const fatbin::Entry& entry, const std::string& name) {
        const std::string arch = capability(entry.arch);
        for (const WantedOpcode& wanted : kWantedOpcodes) {
            if (wanted.id != test.id || wanted.language != language || !at_least(arch, wanted.from)) continue;
            if (!wanted.below.empty() && at_least(arch, wanted.below)) continue;
            const auto kernel = listing.find(std::string(wanted.kernel));
            if (kernel == listing.end()) return std::string(wanted.kernel) + " is not there";
            const auto& opcodes = kernel->second;
            const auto found = std::find_if(opcodes.begin(), opcodes.end(), [&](const std::string& opcode) {
                return opcode_matches(wanted.pattern, opcode);
            });
            if (found == opcodes.end())
                return std::string(wanted.kernel) + " has no " + std::string(wanted.pattern);
            found_.push_back(name + ": " + *found);
            (language == Language::ptx ? in_ptx_ : in_sass_) += 1;
        }
        return "";
    }

    const Context& context_;
    Disassembler disassembler_;
    Record record_;
    json::Value opcodes_ = json::Value::object();
    json::Value found_ = json::Value::array();  ///< in the program being read
    std::optional<fatbin::Cover> cover_;        ///< of it; empty where the cell's GPU is unknown
    std::vector<std::string> without_ptx_;
    std::vector<std::string> unread_;
    int programs_ = 0;
    int in_ptx_ = 0;
    int in_sass_ = 0;
    bool empty_ = false;
};

}  // namespace

/// Whether the programs hold the instructions that their tests are about: a kernel that was cut away for an
/// architecture compiles, starts and ends without a word.
Record static_opcodes(const Context& context) {
    std::string error;
    const auto stored = read_static_file(context.prefix, error);
    if (!stored) return Record::broken("no_static_file", error);
    if (built_without_nvcc(*stored)) return Record::skip("no_nvcc", "the suite was built without nvcc");
    OpcodeSearch search(context, stored->find("evidence")->text_of("nvcc"));
    for (const Test& test : all_tests()) {
        // A program that did not compile is static.compile's finding, not ours.
        if (test.runs_by == RunsBy::cuda && file_exists(context.prefix + "/bin/" + test.program()))
            search.program(test);
    }
    return search.finish();
}

}  // namespace cudamatrix::suite
