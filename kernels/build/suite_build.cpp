// Builds the suite inside an image, with nothing but the image's own g++ and nvcc. It is compiled first, by
// one call of g++ on this file alone, hence the .cpp files at the end of the includes:
//
//     g++ -std=c++17 -I SOURCE -o suite_build SOURCE/kernels/build/suite_build.cpp
//
// A kernel that does not compile is a result (a fail record in static.jsonl), not a failure of this program.
// Exit codes: 0 built, 2 usage, 3 the host programs could not be built or written.
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "kernels/build/gencode.hpp"
#include "kernels/build/nvcc_text.hpp"
#include "kernels/build/options.hpp"
#include "kernels/registry.hpp"
#include "kernels/support/json.hpp"
#include "kernels/support/process.hpp"
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

constexpr double kCompileLimit = 900;  // seconds for one compiler call
constexpr const char* kHostFolders[] = {"fatbin", "kernels/support", "kernels/host", "kernels/runner"};

/// One compiler call: what it builds and how it went.
struct Step {
    std::string name;  ///< as reported: "kernels/compute/vadd.cu"
    std::string output;
    ProcessSpec spec;
    ProcessResult result;

    [[nodiscard]] bool ok() const { return result.start_error.empty() && result.exit_code == 0; }
    [[nodiscard]] std::string text() const {
        if (!result.start_error.empty()) return result.start_error;
        return result.timed_out ? "the compiler did not end within 900 s" : result.err + result.out;
    }
};

Step make_step(std::string name, std::string output, std::vector<std::string> argv) {
    Step step;
    step.name = std::move(name);
    step.output = std::move(output);
    step.spec.argv = std::move(argv);
    step.spec.limit_s = kCompileLimit;
    return step;
}

class Builder {
  public:
    explicit Builder(BuildOptions options) : options_(std::move(options)) {
        if (options_.jobs == 0) options_.jobs = std::max(1U, std::thread::hardware_concurrency());
    }
    ~Builder() {
        std::error_code ignored;
        if (!work_.empty()) fs::remove_all(work_, ignored);
    }

    int run() {
        if (!prepare() || !build_host()) return 3;
        if (!options_.no_nvcc) build_cuda();
        return write_static() ? 0 : 3;
    }

  private:
    bool complain(const std::string& text) {
        std::fprintf(stderr, "suite_build: %s\n", text.c_str());
        return false;
    }

    bool prepare() {
        std::error_code error;
        for (const char* folder : {"bin", "python"}) {
            fs::create_directories(fs::path(options_.out) / folder, error);
            if (error) return complain(options_.out + "/" + folder + ": " + error.message());
        }
        std::string pattern = (fs::temp_directory_path(error) / "suite_build.XXXXXX").string();
        if (::mkdtemp(pattern.data()) == nullptr)
            return complain("cannot make a temporary folder " + pattern);
        work_ = pattern;
        return true;
    }

    /// Runs steps side by side; says what each took.
    void run_steps(std::vector<Step>& steps) {
        std::vector<ProcessSpec> specs;
        for (const Step& step : steps)
            specs.push_back(step.spec);
        std::vector<ProcessResult> results = run_processes(specs, options_.jobs);
        for (std::size_t i = 0; i < steps.size(); ++i) {
            steps[i].result = std::move(results[i]);
            std::printf("suite_build: %-36s %6.1f s%s\n", steps[i].name.c_str(), steps[i].result.wall_s,
                        steps[i].ok() ? "" : "  FAILED");
        }
        std::fflush(stdout);
    }

    [[nodiscard]] std::string host_compiler() const {
        return options_.ccbin.empty() ? options_.cxx : options_.ccbin;
    }
    [[nodiscard]] std::string object_of(const std::string& source) const {
        std::string name = source;
        std::replace(name.begin(), name.end(), '/', '_');
        return work_ + "/" + name + ".o";
    }

    [[nodiscard]] std::vector<std::string> sources_in(const std::string& folder,
                                                      const char* extension = ".cpp") const {
        std::vector<std::string> sources;
        std::error_code error;
        for (const auto& entry : fs::directory_iterator(fs::path(options_.source) / folder, error)) {
            if (entry.path().extension() == extension)
                sources.push_back(folder + "/" + entry.path().filename().string());
        }
        std::sort(sources.begin(), sources.end());
        return sources;
    }

    // -O1: these programs read files and start others, and every image compiles them.
    [[nodiscard]] Step host_step(const std::string& name, const std::string& file) const {
        return make_step(name, object_of(name),
                         {host_compiler(), "-std=c++17", "-O1", "-I" + options_.source, "-c", file, "-o",
                          object_of(name)});
    }

    /// A file that includes all of a folder: most of what each costs is the standard headers. Empty: none
    /// there.
    [[nodiscard]] std::string all_of(const std::string& folder) const {
        const std::vector<std::string> sources = sources_in(folder);
        if (sources.empty()) return "";
        const std::string path = object_of(folder) + ".cpp";
        std::ofstream out(path);
        for (const std::string& source : sources)
            out << "#include \"" << source << "\"\n";
        return path;
    }

    bool build_host() {
        std::vector<Step> steps;
        for (const char* folder : kHostFolders) {
            const std::string file = all_of(folder);
            if (file.empty()) return complain(options_.source + "/" + folder + " holds no .cpp files");
            steps.push_back(host_step(folder, file));
        }
        run_steps(steps);
        for (const Step& step : steps) {
            if (!step.ok()) return complain(step.name + " does not compile\n" + step.text());
        }
        std::vector<std::string> link = {host_compiler(), "-static-libstdc++", "-static-libgcc", "-o",
                                         options_.out + "/bin/suite"};
        for (const char* folder : kHostFolders)
            link.push_back(object_of(folder));
        link.insert(link.end(), {"-ldl", "-lpthread"});
        std::vector<Step> last = {make_step("bin/suite", options_.out + "/bin/suite", link)};
        run_steps(last);
        if (!last.front().ok()) return complain("bin/suite does not link\n" + last.front().text());
        built_.push_back("bin/suite");
        return copy_scripts();
    }

    bool copy_scripts() {
        const std::vector<std::string> scripts = sources_in("kernels/python", ".py");
        if (scripts.empty()) return complain(options_.source + "/kernels/python holds no .py files");
        for (const std::string& script : scripts) {
            const std::string name = script.substr(script.find('/') + 1);
            std::error_code error;
            fs::copy_file(fs::path(options_.source) / "kernels" / name, fs::path(options_.out) / name,
                          fs::copy_options::overwrite_existing, error);
            if (error) return complain(name + ": " + error.message());
            built_.push_back(name);
        }
        return true;
    }

    [[nodiscard]] std::string nvcc() const {
        if (!options_.nvcc.empty()) return options_.nvcc;
        const std::string found = find_program("nvcc");
        return found.empty() ? "/usr/local/cuda/bin/nvcc" : found;
    }

    void build_cuda() {
        std::vector<Step> version = {make_step("nvcc --version", "", {nvcc(), "--version"})};
        run_steps(version);
        if (!version.front().ok()) {
            nvcc_missing_ = version.front().text();
            return;
        }
        nvcc_version_ = parse_nvcc_version(version.front().result.out);
        // Each program is a .cpp for the host and a .cu; a mistake in one of them costs that program only.
        std::vector<const Test*> tests;
        std::vector<Step> host;
        for (const Test& test : all_tests()) {
            if (test.runs_by != RunsBy::cuda || gencode_of(test).empty()) continue;
            tests.push_back(&test);
            const std::string source = "kernels/" + std::string(test.source) + ".cpp";
            host.push_back(host_step(source, options_.source + "/" + source));
        }
        run_steps(host);
        std::vector<Step> device;
        for (std::size_t i = 0; i < tests.size(); ++i) {
            remove_output(*tests[i]);
            if (host[i].ok()) {
                device.push_back(cuda_step(*tests[i], gencode_of(*tests[i])));
            } else {
                cuda_steps_.push_back(std::move(host[i]));
            }
        }
        run_steps(device);
        for (Step& step : device) {
            if (step.ok()) built_.push_back(step.output);
            cuda_steps_.push_back(std::move(step));
        }
    }

    [[nodiscard]] std::vector<std::string> gencode_of(const Test& test) const {
        return gencode_options(options_.computes, options_.ptx, std::string(test.variant));
    }

    /// What an earlier build left must not be taken for ours.
    void remove_output(const Test& test) const {
        std::error_code ignored;
        fs::remove(fs::path(options_.out) / "bin" / test.program(), ignored);
    }

    Step cuda_step(const Test& test, const std::vector<std::string>& gencode) {
        const std::string source = "kernels/" + std::string(test.source) + ".cu";
        const std::string output = "bin/" + test.program();
        std::vector<std::string> argv = {nvcc(),
                                         "-std=c++17",
                                         "-O2",
                                         "-Werror",
                                         "cross-execution-space-call",
                                         "-cudart",
                                         "static",
                                         "-Xcompiler",
                                         "-static-libstdc++,-static-libgcc"};
        argv.insert(argv.end(), gencode.begin(), gencode.end());
        if (!options_.ccbin.empty()) argv.insert(argv.end(), {"-ccbin", options_.ccbin});
        argv.push_back("-I" + options_.source);
        for (const std::string& folder : options_.cuda_include)
            argv.push_back("-I" + folder);
        for (const std::string& folder : options_.cuda_lib)
            argv.push_back("-L" + folder);
        argv.insert(argv.end(), {options_.source + "/" + source,
                                 object_of("kernels/" + std::string(test.source) + ".cpp")});
        for (const char* folder : {"fatbin", "kernels/support"})
            argv.push_back(object_of(folder));
        argv.insert(argv.end(), {"-o", options_.out + "/" + output});
        return make_step(source, output, argv);
    }

    /// The record of static.compile, to be repeated by the runner while the files are still the same.
    [[nodiscard]] Record static_record() const {
        if (options_.no_nvcc)
            return Record::skip("no_nvcc", "the image has no nvcc: nothing to compile with");
        if (!nvcc_missing_.empty()) {
            return Record::fail("lib_absent", "", nvcc() + " cannot be run: " + first_line(nvcc_missing_));
        }
        Record record;
        for (const Step& step : cuda_steps_)
            record.check(step.name, step.ok(), error_line(step.text()));
        record = judge(record, "does_not_compile",
                       std::to_string(cuda_steps_.size()) + " programs compiled by nvcc " + nvcc_version_);
        if (record.status != Status::fail) return record;
        std::string all;
        for (const Step& step : cuda_steps_) {
            if (!step.ok()) all += step.text();
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
            const auto hash = sha256_of_file(options_.out + "/" + name);
            if (!hash) return complain(options_.out + "/" + name + " cannot be read");
            json::Value file = json::Value::object();
            file.set("file", name);
            file.set("sha256", *hash);
            files.push_back(std::move(file));
        }
        json::Value units = json::Value::array();
        json::Value errors = json::Value::object();
        for (const Step& step : cuda_steps_) {
            json::Value unit = json::Value::object();
            unit.set("source", step.name);
            unit.set("seconds", static_cast<double>(static_cast<long>(step.result.wall_s * 100)) / 100);
            units.push_back(std::move(unit));
            if (!step.ok()) errors.set(step.name, step.text());
        }
        json::Value computes = json::Value::array();
        for (const fatbin::Arch& arch : options_.computes)
            computes.push_back(fatbin::to_text(arch));
        add_evidence(record, "nvcc", nvcc_version_);
        add_evidence(record, "compute", computes);
        if (options_.ptx) add_evidence(record, "ptx", fatbin::to_text(*options_.ptx));
        add_evidence(record, "units", units);
        if (!errors.members().empty()) add_evidence(record, "errors", errors);
        add_evidence(record, "files", files);

        json::Value line = to_json(record, "static.compile", "static");
        json::Value whole = json::Value::object();
        whole.set("v", 1);
        for (const auto& [name, value] : line.members())
            whole.set(name, value);
        const std::string path = options_.out + "/static.jsonl";
        std::ofstream out(path, std::ios::binary | std::ios::trunc);
        out << whole.dump() << "\n";
        out.close();
        if (!out) return complain(path + " cannot be written");
        std::printf("suite_build: static.compile: %s: %s\n", std::string(to_text(record.status)).c_str(),
                    record.summary.c_str());
        return true;
    }

    BuildOptions options_;
    std::string work_;
    std::string nvcc_version_;
    std::string nvcc_missing_;
    std::vector<Step> cuda_steps_;
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
