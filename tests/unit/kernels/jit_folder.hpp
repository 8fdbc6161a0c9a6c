#pragma once

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "kernels/support/json.hpp"
#include "kernels/support/process.hpp"
#include "unit/kernels/scratch.hpp"

/// An image as a host test meets it that makes code at run time: a folder where the loader looks first, and
/// one of torch's.
class JitFolder {
  public:
    using Args = std::vector<std::string>;
    using Env = std::vector<std::pair<std::string, std::string>>;

    /// A stand-in under the name that the loader or torch has for it.
    void put(const std::string& library, const std::string& name) const {
        const std::filesystem::path to = folder_.path() + "/" + name;
        std::filesystem::create_directories(to.parent_path());
        std::filesystem::copy_file(library, to, std::filesystem::copy_options::overwrite_existing);
    }
    void write(const std::string& name, const std::string& text) const { folder_.write(name, text); }
    /// What this machine itself has of the library is not found: a file that is none comes before it.
    void hide(const std::string& stem) const {
        for (const char* end : {"11.2", "11", "12", "13", "14"})
            write("lib/" + stem + ".so." + end, "not a library");
    }
    [[nodiscard]] std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
    [[nodiscard]] std::string torch_library() const { return path("site/torch/lib/libtorch_cuda.so"); }

    /// The record of a test; the loader finds lib/ and, unless told otherwise, a driver.
    [[nodiscard]] cudamatrix::suite::json::Value run(const std::string& id, const Args& more,
                                                     const Env& env = {},
                                                     const std::string& driver = SUITE_FAKE_DRIVER) const {
        cudamatrix::suite::ProcessSpec spec;
        spec.argv = {SUITE_PROGRAM, "test", id, "--root", "/no/such/root"};
        spec.argv.insert(spec.argv.end(), more.begin(), more.end());
        spec.env = env;  // of two values the first counts
        spec.env.emplace_back("LD_LIBRARY_PATH", path("lib") + ":" + driver);
        spec.env.emplace_back("FAKE_CC", "90");
        spec.limit_s = 300;
        const auto result = cudamatrix::suite::run_process(spec);
        std::string error;
        const auto line = cudamatrix::suite::json::parse(result.out, error);
        REQUIRE_MESSAGE(line, id << ": " << error << result.err);
        return *line;
    }

  private:
    scratch::Folder folder_;
};

/// How a record must fail.
struct JitFailure {
    const char* reason;
    const char* fault;
    const char* summary_part;
    const char* hint_part;
};

inline void check_failure(const cudamatrix::suite::json::Value& line, const JitFailure& want) {
    CAPTURE(line.dump());
    CHECK(line.text_of("status") == "fail");
    CHECK(line.text_of("reason") == want.reason);
    CHECK(line.text_of("fault") == want.fault);
    CHECK(line.text_of("summary").find(want.summary_part) != std::string::npos);
    CHECK(line.text_of("hint").find(want.hint_part) != std::string::npos);
}
