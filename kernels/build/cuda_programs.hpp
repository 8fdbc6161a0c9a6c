#pragma once

#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "kernels/build/gencode.hpp"
#include "kernels/build/nvcc_text.hpp"
#include "kernels/build/workshop.hpp"
#include "kernels/registry.hpp"

/// The tests that nvcc compiles. Each becomes two programs: OUT/bin/NAME for the GPU, with the runtime
/// inside, and OUT/interpreted/NAME, whose libcudart beside it interprets the kernels' PTX on the CPU.
namespace cudamatrix::suite {

/// A test's program on its way through the compilers.
struct Program {
    const Test* test;
    Step last;  ///< the step that failed, or the one that came last
    double seconds = 0;
    std::string warnings;  ///< of steps that succeeded
    /// As reported: "kernels/compute/vadd.cu", or the .cpp where that does not compile.
    [[nodiscard]] std::string source() const {
        const std::string stem = "kernels/" + std::string(test->source);
        return stem + (!last.ok() && last.name == stem + ".cpp" ? ".cpp" : ".cu");
    }
};

class CudaPrograms {
  public:
    CudaPrograms(Workshop& shop, std::string nvcc, std::string nvcc_version)
        : shop_(shop), nvcc_(std::move(nvcc)), nvcc_version_(std::move(nvcc_version)) {
        for (const Test& test : all_tests()) {
            // The runner leaves out what the toolkit is too old for: its kernels would be empty.
            const bool serves = nvcc_version_.empty() ||
                                cudart_number(nvcc_version_) >= cudart_number(std::string(test.min_cuda));
            if (test.runs_by == RunsBy::cuda && serves && !gencode_of(test).empty())
                programs_.push_back({&test, {}, 0, {}});
        }
    }

    [[nodiscard]] const std::vector<Program>& programs() const { return programs_; }
    /// Names of the files below OUT that were made.
    [[nodiscard]] const std::vector<std::string>& built() const { return built_; }

    void build() {
        for (const Test& test : all_tests()) {
            if (test.runs_by != RunsBy::cuda) continue;
            std::error_code ignored;  // what an earlier build left must not be taken for ours
            for (const char* folder : {"bin/", "interpreted/"})
                std::filesystem::remove(shop_.out(folder + test.program()), ignored);
        }
        // A mistake in one of the files costs that program only.
        run_stage(&CudaPrograms::host_part);
        run_stage(&CudaPrograms::device_part);
        run_stage(&CudaPrograms::program_for_gpu);
        for (const Program& program : programs_) {
            if (program.last.ok()) built_.push_back("bin/" + program.test->program());
        }
        if (build_interpreter()) link_to_interpreter();
    }

  private:
    [[nodiscard]] std::vector<std::string> gencode_of(const Test& test) const {
        const bool families = nvcc_version_.empty() || cudart_number(nvcc_version_) >= 12090;
        return gencode_options(shop_.options().computes, shop_.options().ptx, std::string(test.variant),
                               families);
    }

    /// The libcudart that interprets PTX, with the name and version of the one that nvcc would link. An image
    /// is not at fault where it cannot be built: the build says why, and what needs it cannot be judged.
    bool build_interpreter() {
        const std::string major = nvcc_version_.substr(0, nvcc_version_.find('.'));
        cudart_ = "interpreted/libcudart.so." + (major == "11" ? "11.0" : major);
        const std::vector<std::string> sources = shop_.sources_in("kernels/interpreter");
        // Sums must round as they are written.
        const std::vector<std::string> options = {
            "-O2", "-ffp-contract=off", "-fvisibility=hidden",
            "-DCUDAMATRIX_CUDART_VERSION=" + std::to_string(cudart_number(nvcc_version_))};
        constexpr std::size_t kMostPieces = 4;  // more only repeat the headers
        const std::size_t pieces = std::min<std::size_t>(shop_.options().jobs, kMostPieces);
        std::vector<Step> steps;
        std::vector<std::string> link = {shop_.host_compiler(), "-shared", "-static-libstdc++",
                                         "-static-libgcc",      "-o",      shop_.out(cudart_)};
        for (std::size_t piece = 0; piece < pieces; ++piece) {
            std::vector<std::string> of_piece;
            for (std::size_t i = piece; i < sources.size(); i += pieces)
                of_piece.push_back(sources[i]);
            const std::string name = "kernels/interpreter." + std::to_string(piece);
            steps.push_back(shop_.host_step(name, shop_.joined(name, of_piece), options));
            link.push_back(shop_.object_of(name));
        }
        if (!all_ok(steps)) return false;
        const std::string soname = cudart_.substr(cudart_.find('/') + 1);
        const std::string map = shop_.object_of(soname) + ".map";
        std::ofstream(map) << soname << " { global: cuda*; __cuda*; local: *; };\n";
        link.insert(link.end(), {shop_.object_of("fatbin"), "-lpthread", "-Wl,-soname," + soname,
                                 "-Wl,--version-script," + map});
        std::vector<Step> last = {make_step(cudart_, link)};
        if (!all_ok(last)) return false;
        built_.push_back(cudart_);
        return true;
    }

    void link_to_interpreter() {
        std::vector<Step> steps;
        for (const Program& program : programs_) {
            if (program.last.ok()) steps.push_back(program_for_interpreter(*program.test));
        }
        static_cast<void>(all_ok(steps));
        for (const Step& step : steps) {
            if (step.ok()) built_.push_back(step.name);
        }
    }

    /// Runs them; prints what those that failed have to say.
    [[nodiscard]] bool all_ok(std::vector<Step>& steps) {
        shop_.run_steps(steps);
        bool all = true;
        for (const Step& step : steps) {
            if (!step.ok()) all = complain(step.name + ": " + step.text());
        }
        return all;
    }

    /// One step of each program that has come this far.
    void run_stage(Step (CudaPrograms::*make)(const Test&) const) {
        std::vector<Program*> going;
        std::vector<Step> steps;
        for (Program& program : programs_) {
            if (!program.last.name.empty() && !program.last.ok()) continue;
            going.push_back(&program);
            steps.push_back((this->*make)(*program.test));
        }
        shop_.run_steps(steps);
        for (std::size_t i = 0; i < steps.size(); ++i) {
            going[i]->seconds += steps[i].result.wall_s;
            if (steps[i].ok()) going[i]->warnings += warning_lines(steps[i].text());
            going[i]->last = std::move(steps[i]);
        }
    }

    [[nodiscard]] Step host_part(const Test& test) const {
        const std::string source = "kernels/" + std::string(test.source) + ".cpp";
        return shop_.host_step(source, shop_.source(source));
    }

    [[nodiscard]] std::vector<std::string> nvcc_for(const Test& test) const {
        std::vector<std::string> argv = {nvcc_, "-std=c++17"};
        const std::vector<std::string> gencode = gencode_of(test);
        argv.insert(argv.end(), gencode.begin(), gencode.end());
        if (!shop_.options().ccbin.empty()) argv.insert(argv.end(), {"-ccbin", shop_.options().ccbin});
        return argv;
    }

    /// PTX that is not compressed is what the interpreter reads.
    [[nodiscard]] Step device_part(const Test& test) const {
        const std::string source = "kernels/" + std::string(test.source) + ".cu";
        std::vector<std::string> argv = nvcc_for(test);
        argv.insert(argv.end(), {"-O2", "--no-compress", "-Werror", "cross-execution-space-call",
                                 "-I" + shop_.options().source});
        for (const std::string& folder : shop_.options().cuda_include)
            argv.push_back("-I" + folder);
        argv.insert(argv.end(), {"-c", shop_.source(source), "-o", shop_.object_of(source)});
        return make_step(source, argv);
    }

    [[nodiscard]] Step program_for_gpu(const Test& test) const {
        return link_step(test, "bin", "static", {});
    }
    [[nodiscard]] Step program_for_interpreter(const Test& test) const {
        return link_step(test, "interpreted", "none", {"-Xlinker", shop_.out(cudart_), "-ldl", "-lpthread"});
    }

    [[nodiscard]] Step link_step(const Test& test, const std::string& folder, const std::string& cudart,
                                 const std::vector<std::string>& libraries) const {
        const std::string name = folder + "/" + test.program();
        std::vector<std::string> argv = nvcc_for(test);
        argv.insert(argv.end(), {"-cudart", cudart, "-Xcompiler", "-static-libstdc++,-static-libgcc"});
        for (const std::string& path : shop_.options().cuda_lib)
            argv.push_back("-L" + path);
        const std::string stem = "kernels/" + std::string(test.source);
        for (const std::string& source :
             {stem + ".cu", stem + ".cpp", std::string("fatbin"), std::string("kernels/support")})
            argv.push_back(shop_.object_of(source));
        argv.insert(argv.end(), libraries.begin(), libraries.end());
        argv.insert(argv.end(), {"-o", shop_.out(name)});
        return make_step(name, argv);
    }

    Workshop& shop_;
    std::string nvcc_;
    std::string nvcc_version_;
    std::string cudart_;  ///< file name of the interpreter's library
    std::vector<Program> programs_;
    std::vector<std::string> built_;
};

}  // namespace cudamatrix::suite
