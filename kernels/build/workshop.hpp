#pragma once

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "kernels/build/options.hpp"
#include "kernels/support/process.hpp"

/// Where the compilers of an image work: steps, and the files between them.
namespace cudamatrix::suite {

inline constexpr double kCompileLimit = 900;  // seconds for one compiler call

/// One compiler call: what it builds and how it went.
struct Step {
    std::string name;  ///< as reported: "kernels/compute/vadd.cu"
    ProcessSpec spec;
    ProcessResult result;

    [[nodiscard]] bool ok() const { return result.start_error.empty() && result.exit_code == 0; }
    [[nodiscard]] std::string text() const {
        if (!result.start_error.empty()) return result.start_error;
        return result.timed_out ? "the compiler did not end within 900 s" : result.err + result.out;
    }
};

inline Step make_step(std::string name, std::vector<std::string> argv) {
    Step step;
    step.name = std::move(name);
    step.spec.argv = std::move(argv);
    step.spec.limit_s = kCompileLimit;
    return step;
}

/// Prints what is wrong with the build itself; false, so that a caller can give that back.
inline bool complain(const std::string& text) {
    std::fprintf(stderr, "suite_build: %s\n", text.c_str());
    return false;
}

class Workshop {
  public:
    explicit Workshop(BuildOptions options) : options_(std::move(options)) {
        if (options_.jobs == 0) options_.jobs = std::max(1U, std::thread::hardware_concurrency());
    }
    Workshop(const Workshop&) = delete;
    Workshop& operator=(const Workshop&) = delete;
    ~Workshop() {
        std::error_code ignored;
        if (!work_.empty()) std::filesystem::remove_all(work_, ignored);
    }

    [[nodiscard]] const BuildOptions& options() const { return options_; }
    [[nodiscard]] std::string source(const std::string& name) const { return options_.source + "/" + name; }
    [[nodiscard]] std::string out(const std::string& name) const { return options_.out + "/" + name; }

    /// Makes the folders.
    bool open() {
        std::error_code error;
        for (const char* folder : {"bin", "interpreted", "python"}) {
            std::filesystem::create_directories(out(folder), error);
            if (error) return complain(out(folder) + ": " + error.message());
        }
        std::string pattern = (std::filesystem::temp_directory_path(error) / "suite_build.XXXXXX").string();
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
        std::vector<std::string> found;
        std::error_code error;
        for (const auto& entry : std::filesystem::directory_iterator(source(folder), error)) {
            if (entry.path().extension() == extension)
                found.push_back(folder + "/" + entry.path().filename().string());
        }
        std::sort(found.begin(), found.end());
        return found;
    }

    // -O1: these programs read files and start others, and every image compiles them.
    [[nodiscard]] Step host_step(const std::string& name, const std::string& file,
                                 const std::vector<std::string>& more = {"-O1"}) const {
        std::vector<std::string> argv = {host_compiler(), "-std=c++17", "-fPIC", "-I" + options_.source};
        argv.insert(argv.end(), more.begin(), more.end());
        argv.insert(argv.end(), {"-c", file, "-o", object_of(name)});
        return make_step(name, argv);
    }

    /// A file that includes them all: most of what each costs is the standard headers.
    [[nodiscard]] std::string joined(const std::string& name, const std::vector<std::string>& sources) const {
        const std::string path = object_of(name) + ".cpp";
        std::ofstream out(path);
        for (const std::string& source : sources)
            out << "#include \"" << source << "\"\n";
        return path;
    }

  private:
    BuildOptions options_;
    std::string work_;
};

}  // namespace cudamatrix::suite
