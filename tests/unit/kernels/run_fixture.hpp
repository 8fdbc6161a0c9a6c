#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "kernels/registry.hpp"
#include "kernels/support/json.hpp"
#include "kernels/support/process.hpp"
#include "kernels/support/sha256.hpp"
#include "unit/kernels/scratch.hpp"

// `suite run` as a whole: the real program, with stand-ins for the programs that nvcc would have built and
// for libcuda.
namespace cudamatrix::suite::suite_run {

using json::Value;
using Args = std::vector<std::string>;

struct Run {
    int exit = -1;
    Value plan;
    Value totals;
    std::map<std::string, Value> lines;  ///< by "id/part"
    std::string err;

    [[nodiscard]] std::string status(const std::string& key) const {
        const auto it = lines.find(key);
        return it == lines.end() ? "absent" : it->second.text_of("status");
    }
    [[nodiscard]] std::string reason(const std::string& key) const {
        const auto it = lines.find(key);
        return it == lines.end() ? "absent" : it->second.text_of("reason");
    }
    [[nodiscard]] std::string verdict() const { return totals.text_of("verdict"); }
};

/// A prefix whose test programs are stand-ins.
class Suite {
  public:
    explicit Suite(bool with_nvcc = true, const std::string& nvcc = "12.4.131") {
        std::string files;
        for (const Test& test : all_tests()) {
            if (test.runs_by != RunsBy::cuda || !with_nvcc) continue;
            for (const char* folder : {"bin/", "interpreted/"}) {
                const std::string name = folder + test.program();
                std::filesystem::create_directories(folder_.path() + "/" + folder);
                std::filesystem::copy_file(SUITE_FAKE_TEST, folder_.path() + "/" + name);
                if (!files.empty()) files += ",";
                files += R"({"file":")";
                files += name;
                files += R"(","sha256":")";
                files += *sha256_of_file(folder_.path() + "/" + name);
                files += "\"}";
            }
        }
        const std::string status = with_nvcc ? "\"pass\"" : "\"skip\",\"reason\":\"no_nvcc\"";
        folder_.write("static.jsonl",
                      "{\"v\":1,\"id\":\"static.compile\",\"part\":\"static\",\"status\":" + status +
                          ",\"summary\":\"s\",\"checks\":[{\"name\":\"a\",\"ok\":true}],\"evidence\":{"
                          "\"nvcc\":\"" +
                          nvcc + "\",\"files\":[" + files + "]}}\n");
    }

    Run run(Args more, std::vector<std::pair<std::string, std::string>> env = {},
            bool with_driver = true) const {
        ProcessSpec spec;
        spec.argv = {SUITE_PROGRAM, "run",
                     "--cell",      "c",
                     "--run",       "r",
                     "--prefix",    folder_.path(),
                     "--only",      "static.compile,dev.driver,dev.query,cmp.vadd,cmp.reduce,cmp.sgemm"};
        // A busy machine and the sanitizers make any of them slow: only who asks for a limit meets one.
        if (std::find(more.begin(), more.end(), "--limit-seconds") == more.end())
            more.insert(more.end(), {"--limit-seconds", "600"});
        spec.argv.insert(spec.argv.end(), more.begin(), more.end());
        spec.env = std::move(env);
        spec.env.emplace_back("LD_LIBRARY_PATH", with_driver ? SUITE_FAKE_DRIVER : "/no/such/folder");
        spec.limit_s = 900;
        const ProcessResult result = run_process(spec);
        return read(result);
    }

    [[nodiscard]] std::string path() const { return folder_.path(); }

  private:
    static Run read(const ProcessResult& result) {
        Run run;
        run.exit = result.exit_code;
        run.err = result.err;
        std::size_t begin = 0;
        while (begin < result.out.size()) {
            const std::size_t end = result.out.find('\n', begin);
            std::string error;
            const auto line = json::parse(result.out.substr(begin, end - begin), error);
            REQUIRE_MESSAGE(line, error);
            if (line->find("plan") != nullptr) run.plan = *line;
            if (line->find("totals") != nullptr) run.totals = *line;
            if (line->find("id") != nullptr)
                run.lines[line->text_of("id") + "/" + line->text_of("part")] = *line;
            begin = end + 1;
        }
        return run;
    }

    scratch::Folder folder_;
};

}  // namespace cudamatrix::suite::suite_run
