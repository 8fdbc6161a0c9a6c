// Builds the suite inside an image, with nothing but the image's own g++ and nvcc. It is compiled first, by
// one call of g++ on this file alone, hence the .cpp files at the end of the includes:
//
//     g++ -std=c++17 -I SOURCE -o suite_build SOURCE/kernels/build/suite_build.cpp
//
// A kernel that does not compile is a result (a fail record in static.jsonl), not a failure of this program.
// Exit codes: 0 built, 2 usage, 3 the host programs could not be built or written.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "kernels/build/cuda_programs.hpp"
#include "kernels/build/nvcc_text.hpp"
#include "kernels/build/options.hpp"
#include "kernels/build/workshop.hpp"
#include "kernels/registry.hpp"
#include "kernels/support/json.hpp"
#include "kernels/support/record_json.hpp"
#include "kernels/support/sha256.hpp"

#include "fatbin/arch.cpp"
#include "kernels/support/json.cpp"
#include "kernels/support/process.cpp"
#include "kernels/support/record_json.cpp"
#include "kernels/support/sha256.cpp"

namespace cudamatrix::suite {
namespace {

namespace fs = std::filesystem;

constexpr const char* kHostFolders[] = {"fatbin", "kernels/support", "kernels/host", "kernels/runner"};

class Builder {
  public:
    explicit Builder(BuildOptions options) : shop_(std::move(options)) {}

    int run() {
        if (!shop_.open() || !build_host()) return 3;
        if (!shop_.options().no_nvcc) build_cuda();
        return write_static() ? 0 : 3;
    }

  private:
    bool build_host() {
        std::vector<Step> steps;
        for (const char* folder : kHostFolders) {
            const std::vector<std::string> sources = shop_.sources_in(folder);
            if (sources.empty()) return complain(shop_.source(folder) + " holds no .cpp files");
            steps.push_back(shop_.host_step(folder, shop_.joined(folder, sources)));
        }
        shop_.run_steps(steps);
        for (const Step& step : steps) {
            if (!step.ok()) return complain(step.name + " does not compile\n" + step.text());
        }
        std::vector<std::string> link = {shop_.host_compiler(), "-static-libstdc++", "-static-libgcc", "-o",
                                         shop_.out("bin/suite")};
        for (const char* folder : kHostFolders)
            link.push_back(shop_.object_of(folder));
        link.insert(link.end(), {"-ldl", "-lpthread"});
        std::vector<Step> last = {make_step("bin/suite", link)};
        shop_.run_steps(last);
        if (!last.front().ok()) return complain("bin/suite does not link\n" + last.front().text());
        built_.push_back("bin/suite");
        return copy_scripts();
    }

    bool copy_scripts() {
        const std::vector<std::string> scripts = shop_.sources_in("kernels/python", ".py");
        if (scripts.empty()) return complain(shop_.source("kernels/python") + " holds no .py files");
        for (const std::string& script : scripts) {
            const std::string name = script.substr(script.find('/') + 1);
            std::error_code error;
            fs::copy_file(shop_.source(script), shop_.out(name), fs::copy_options::overwrite_existing, error);
            if (error) return complain(name + ": " + error.message());
            built_.push_back(name);
        }
        return true;
    }

    [[nodiscard]] std::string nvcc() const {
        if (!shop_.options().nvcc.empty()) return shop_.options().nvcc;
        const std::string found = find_program("nvcc");
        return found.empty() ? "/usr/local/cuda/bin/nvcc" : found;
    }

    void build_cuda() {
        std::vector<Step> version = {make_step("nvcc --version", {nvcc(), "--version"})};
        shop_.run_steps(version);
        if (!version.front().ok()) {
            nvcc_missing_ = version.front().text();
            return;
        }
        nvcc_version_ = parse_nvcc_version(version.front().result.out);
        CudaPrograms programs(shop_, nvcc(), nvcc_version_);
        programs.build();
        programs_ = programs.programs();
        built_.insert(built_.end(), programs.built().begin(), programs.built().end());
    }

    /// The record of static.compile, to be repeated by the runner while the files are still the same.
    [[nodiscard]] Record static_record() const {
        if (shop_.options().no_nvcc)
            return Record::skip("no_nvcc", "the image has no nvcc: nothing to compile with");
        if (!nvcc_missing_.empty()) {
            return Record::fail("lib_absent", "", nvcc() + " cannot be run: " + first_line(nvcc_missing_));
        }
        Record record;
        for (const Program& program : programs_)
            record.check(program.source(), program.last.ok(), error_line(program.last.text()));
        record = judge(record, "does_not_compile",
                       std::to_string(programs_.size()) + " programs compiled by nvcc " + nvcc_version_ +
                           (shop_.options().nvcc_beside ? ", which the image itself does not have" : ""));
        if (record.status != Status::fail) return record;
        std::string all;
        for (const Program& program : programs_) {
            if (!program.last.ok()) all += program.last.text();
        }
        const CompileFault fault = classify_compile_error(all);
        record.fault = fault.fault;
        record.hint = fault.hint;
        if (!fault.reason.empty()) record.reason = fault.reason;
        return record;
    }

    bool write_static() {
        Record record = static_record();
        json::Value files = json::Value::array();
        for (const std::string& name : built_) {
            const auto hash = sha256_of_file(shop_.out(name));
            if (!hash) return complain(shop_.out(name) + " cannot be read");
            json::Value file = json::Value::object();
            file.set("file", name);
            file.set("sha256", *hash);
            files.push_back(std::move(file));
        }
        json::Value units = json::Value::array();
        json::Value errors = json::Value::object();
        json::Value warnings = json::Value::object();
        for (const Program& program : programs_) {
            json::Value unit = json::Value::object();
            unit.set("source", program.source());
            unit.set("seconds", static_cast<double>(static_cast<long>(program.seconds * 100)) / 100);
            units.push_back(std::move(unit));
            if (!program.last.ok()) errors.set(program.source(), program.last.text());
            if (!program.warnings.empty()) warnings.set(program.source(), program.warnings);
        }
        json::Value computes = json::Value::array();
        for (const fatbin::Arch& arch : shop_.options().computes)
            computes.push_back(fatbin::to_text(arch));
        add_evidence(record, "nvcc", nvcc_version_);
        add_evidence(record, "compute", computes);
        if (shop_.options().ptx) add_evidence(record, "ptx", fatbin::to_text(*shop_.options().ptx));
        add_evidence(record, "units", units);
        if (!errors.members().empty()) add_evidence(record, "errors", errors);
        if (!warnings.members().empty()) add_evidence(record, "warnings", warnings);
        add_evidence(record, "files", files);

        json::Value line = to_json(record, "static.compile", "static");
        json::Value whole = json::Value::object();
        whole.set("v", 1);
        for (const auto& [name, value] : line.members())
            whole.set(name, value);
        const std::string path = shop_.out("static.jsonl");
        std::ofstream out(path, std::ios::binary | std::ios::trunc);
        out << whole.dump() << "\n";
        out.close();
        if (!out) return complain(path + " cannot be written");
        std::printf("suite_build: static.compile: %s: %s\n", std::string(to_text(record.status)).c_str(),
                    record.summary.c_str());
        return true;
    }

    Workshop shop_;
    std::string nvcc_version_;
    std::string nvcc_missing_;
    std::vector<Program> programs_;
    std::vector<std::string> built_;
};

}  // namespace
}  // namespace cudamatrix::suite

int main(int argc, char** argv) {
    using namespace cudamatrix::suite;
    const std::vector<std::string> args(argv + 1, argv + argc);
    if (args == std::vector<std::string>{"--help"}) {
        std::fputs(kBuildUsage, stdout);
        return 0;
    }
    std::string error;
    const auto options = parse_build_options(args, error);
    if (!options) {
        std::fprintf(stderr, "suite_build: %s\n%s", error.c_str(), kBuildUsage);
        return 2;
    }
    return Builder(*options).run();
}
