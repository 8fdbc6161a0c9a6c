#include "kernels/runner/runner.hpp"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <optional>

#include "fatbin/cover.hpp"
#include "kernels/host/static_file.hpp"
#include "kernels/registry.hpp"
#include "kernels/runner/verdict.hpp"
#include "kernels/support/json.hpp"
#include "kernels/support/process.hpp"
#include "kernels/support/record_json.hpp"

namespace cudamatrix::suite {
namespace {

/// A folder for the driver's JIT cache, so that no run finds what an earlier one compiled.
class TemporaryFolder {
  public:
    TemporaryFolder() {
        const char* base = ::getenv("TMPDIR");
        std::string pattern = std::string(base != nullptr && *base != '\0' ? base : "/tmp") + "/suite.XXXXXX";
        if (::mkdtemp(pattern.data()) != nullptr) path_ = pattern;
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    ~TemporaryFolder() {
        std::error_code ignored;
        if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
    }
    [[nodiscard]] const std::string& path() const { return path_; }

  private:
    std::string path_;
};

bool is_file(const std::string& path) {
    struct stat info {};
    return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode);
}

/// Not in the list: what is run in cmp.vadd's place where the image has no program of the suite's own.
const Test kTorchCanary{"torch.canary",
                        "torch",
                        RunsBy::python,
                        "torch_canary.py",
                        "gpu",
                        true,
                        false,
                        "",
                        "",
                        "",
                        Level::quick,
                        30,
                        "F23",
                        "",
                        ""};

class Runner {
  public:
    Runner(const Context& context, std::string self, std::FILE* out)
        : context_(context), self_(std::move(self)), out_(out) {
        for (const Test& test : all_tests()) {
            for (const std::string_view part : test.parts())
                plan_.push_back({&test, std::string(part)});
        }
        std::string error;
        const auto record = read_static_file(context.prefix, error);
        without_nvcc_ = record && built_without_nvcc(*record);
        if (record) nvcc_ = record->find("evidence")->text_of("nvcc");
    }

    int run() {
        const auto begin = std::chrono::steady_clock::now();
        print_plan();
        for (const Planned& planned : plan_) {
            if (stop_signal() != 0) break;
            emit(planned);
        }
        const double seconds =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        return print_totals(std::lround(seconds * 1000));
    }

  private:
    enum class Gpu { unknown, usable, absent, faulty, dead };

    void print(const json::Value& line) {
        const std::string text = line.dump() + "\n";
        std::fwrite(text.data(), 1, text.size(), out_);
        std::fflush(out_);
    }

    void print_plan() {
        json::Value ids = json::Value::array();
        json::Value parts = json::Value::object();
        for (const Test& test : all_tests()) {
            ids.push_back(test.id);
            json::Value list = json::Value::array();
            for (const std::string_view part : test.parts())
                list.push_back(part);
            parts.set(test.id, std::move(list));
        }
        json::Value line = json::Value::object();
        line.set("v", 1);
        line.set("run", context_.run);
        line.set("cell", context_.cell);
        line.set("plan", std::move(ids));
        line.set("parts", std::move(parts));
        line.set("lines", plan_.size());
        print(line);
    }

    /// One line for one planned part, whatever happens.
    void emit(const Planned& planned) {
        json::Value judged;
        ProcessResult result;
        bool ran = false;
        if (const auto answer = answer_without_start(planned)) {
            judged = to_json(*answer, planned.test->id, planned.part);
        } else {
            result = start(planned);
            ran = true;
            judged = judge_process(planned, context_, result);
            learn(planned, judged, result);
        }
        print(
            result_line(judged, context_, planned.on_gpu() ? gpu_ : json::Value(), ran ? &result : nullptr));
        const Status status = status_of(judged);
        counts_[static_cast<std::size_t>(status)] += 1;
        // The driver's answers alone compute nothing: a kernel of our own, or torch, has to.
        if (planned.on_gpu() && planned.test->group != "device" && status == Status::pass) kernels_ran_ += 1;
        if (planned.interpreted() && status == Status::pass) kernels_interpreted_ += 1;
    }

    /// The answer of a part that is not run at all, mostly a skip; nothing when it is to be run.
    std::optional<Record> answer_without_start(const Planned& planned) {
        const Test& test = *planned.test;
        if (!context_.only.empty() &&
            std::find(context_.only.begin(), context_.only.end(), test.id) == context_.only.end()) {
            return Record::skip("deselected", "not named by --only");
        }
        if (test.level > wanted_level()) {
            return Record::skip("level", "belongs to level " + std::string(to_text(test.level)));
        }
        if (test.runs_by == RunsBy::python && context_.expect_torch.empty()) {
            return Record::skip("not_in_cell", "the cell promises no torch");
        }
        if (test.runs_by == RunsBy::python && find_program(context_.python).empty()) {
            return Record::fail("lib_absent", "F11",
                                "the cell promises torch, the image has no " + context_.python);
        }
        if (auto skip = skip_by_cell(test)) return skip;
        if (test.runs_by == RunsBy::cuda) {
            if (without_nvcc_) return Record::skip("no_nvcc", "the suite was built without nvcc");
            if (!is_file(program_of({&test, "gpu"})))
                return Record::skip("prereq_failed", test.program() + " was not built: see static.compile");
            if (!is_file(program_of(planned))) {
                return Record::broken("not_built",
                                      "the program for the interpreter was not built: the log of the "
                                      "image's build says why");
            }
        }
        return planned.on_gpu() ? skip_by_gpu(planned) : std::nullopt;
    }

    [[nodiscard]] std::optional<Record> skip_by_cell(const Test& test) const {
        const bool by_cell = !context_.expect_cuda.empty();
        const std::string& cuda = by_cell ? context_.expect_cuda : nvcc_;
        if (!test.min_cuda.empty() && !cuda.empty() &&
            compare_versions(cuda, std::string(test.min_cuda)) < 0) {
            return Record::skip("cuda_too_old",
                                "needs CUDA " + std::string(test.min_cuda) +
                                    (by_cell ? ", the cell has " : ", the suite is built by nvcc ") + cuda);
        }
        if (!test.min_cc.empty() && !context_.compute.empty() &&
            compare_versions(context_.compute, std::string(test.min_cc)) < 0) {
            return Record::skip("cc_too_low", "needs compute capability " + std::string(test.min_cc) +
                                                  ", the cell has " + context_.compute);
        }
        const auto device = fatbin::parse_arch(context_.compute);
        const auto variant = fatbin::parse_arch(test.variant);
        if (device && variant && !fatbin::sass_runs_on(*variant, *device)) {
            return Record::skip("wrong_arch_variant", "its code is for " + std::string(test.variant) +
                                                          " only, the cell has " + context_.compute);
        }
        return std::nullopt;
    }

    std::optional<Record> skip_by_gpu(const Planned& planned) {
        if (context_.mode == Mode::nogpu)
            return Record::skip("no_device", "the run was told not to use a GPU");
        if (planned.test->id == "dev.driver") return std::nullopt;
        if (gpu_state_ == Gpu::unknown) probe();
        switch (gpu_state_) {
            case Gpu::unknown:
            case Gpu::usable:
                return std::nullopt;
            case Gpu::absent:
                if (context_.gpu_is_promised()) break;
                return Record::skip("no_device", "no GPU here: see dev.driver");
            case Gpu::faulty:
                break;
            case Gpu::dead:
                return Record::skip("prereq_failed", "the GPU stopped working earlier in this run");
        }
        return Record::skip("prereq_failed", "no usable GPU: see dev.driver");
    }

    /// dev.driver was not run in this run's plan so far (--only): its answer is needed nevertheless.
    void probe() {
        const Planned driver{find_test("dev.driver"), "gpu"};
        const ProcessResult result = start(driver);
        json::Value judged = judge_process(driver, context_, result);
        learn(driver, judged, result);
    }

    /// What later tests need to know from this one.
    void learn(const Planned& planned, json::Value& judged, const ProcessResult& result) {
        if (planned.on_gpu() && gpu_state_ == Gpu::usable && judged.text_of("reason") == "no_device") {
            judged.set("status", to_text(Status::fail));  // dev.driver saw one
        }
        const Status status = status_of(judged);
        if (planned.test->id == "dev.driver") {
            gpu_state_ = status == Status::pass   ? Gpu::usable
                         : status == Status::skip ? Gpu::absent
                                                  : Gpu::faulty;
            if (judged.text_of("reason") == "no_device" || judged.text_of("reason") == "no_driver") {
                gpu_state_ = Gpu::absent;
            }
        }
        if (planned.test->id == "dev.query") remember_gpu(judged);
        const bool abrupt = status == Status::crash || status == Status::timeout;
        if (!abrupt || !planned.on_gpu()) return;
        if (result.unkillable) {
            gpu_state_ = Gpu::dead;
        } else if (gpu_state_ == Gpu::usable && planned.test->runs_by != RunsBy::host) {
            run_canary(judged);
        }
    }

    void remember_gpu(const json::Value& judged) {
        const json::Value* evidence = judged.find("evidence");
        const json::Value* gpus = evidence == nullptr ? nullptr : evidence->find("gpus");
        if (gpus != nullptr && !gpus->items().empty()) gpu_ = gpus->items().front();
    }

    /// After a crash or a time-out: does the GPU still add two vectors? If not, one root cause is reported
    /// instead of a failure of every test that follows.
    void run_canary(json::Value& judged) {
        Planned canary{find_test("cmp.vadd"), "gpu"};
        if (!is_file(program_of(canary))) canary.test = &kTorchCanary;
        const ProcessResult result = start(canary);
        const json::Value answer = judge_process(canary, context_, result);
        if (status_of(answer) != Status::pass) gpu_state_ = Gpu::dead;
        json::Value evidence =
            judged.find("evidence") != nullptr ? *judged.find("evidence") : json::Value::object();
        evidence.set("canary", answer.text_of("status"));
        judged.set("evidence", std::move(evidence));
    }

    [[nodiscard]] Level wanted_level() const {
        for (const Level level : {Level::quick, Level::standard, Level::full}) {
            if (context_.level == to_text(level)) return level;
        }
        return Level::soak;
    }

    [[nodiscard]] std::string program_of(const Planned& planned) const {
        return context_.prefix + (planned.interpreted() ? "/interpreted/" : "/bin/") +
               planned.test->program();
    }

    ProcessResult start(const Planned& planned) {
        const Test& test = *planned.test;
        Context child = context_;
        child.part = planned.part;
        child.record_fd = 3;
        child.only.clear();
        ProcessSpec spec;
        // `become` sets limits and the parent-death signal, then becomes the test.
        spec.argv = {self_, "become", std::to_string(::getpid())};
        switch (test.runs_by) {
            case RunsBy::host:
                spec.argv.insert(spec.argv.end(), {self_, "test", std::string(test.id)});
                break;
            case RunsBy::cuda:
                spec.argv.push_back(program_of(planned));
                break;
            case RunsBy::python:
                spec.argv.insert(spec.argv.end(), {context_.python, "-B",
                                                   context_.prefix + "/python/" + std::string(test.source),
                                                   "--test", std::string(test.id)});
                break;
        }
        for (std::string& arg : to_args(child))
            spec.argv.push_back(std::move(arg));
        if (planned.on_gpu()) {
            if (cache_.path().empty()) {
                spec.env.emplace_back("CUDA_CACHE_DISABLE", "1");
            } else {
                spec.env.emplace_back("CUDA_CACHE_PATH", cache_.path());
            }
        }
        if (planned.interpreted()) spec.env.emplace_back("LD_LIBRARY_PATH", context_.prefix + "/interpreted");
        constexpr double kFactor = 5;
        constexpr double kLeast = 20;
        constexpr double kSlower = 15;  // an interpreter on a busy machine
        const double usual = std::max(kLeast, kFactor * test.seconds) * (planned.interpreted() ? kSlower : 1);
        const double soak = wanted_level() == Level::soak ? context_.soak_seconds : 0;
        spec.limit_s = context_.limit_seconds > 0 ? context_.limit_seconds : usual + soak;
        return run_process(spec);
    }

    [[nodiscard]] long count(Status status) const { return counts_[static_cast<std::size_t>(status)]; }

    [[nodiscard]] int exit_of_run() const {
        if (count(Status::fail) + count(Status::crash) + count(Status::timeout) > 0) return kSomethingFailed;
        if (count(Status::error) > 0) return kOnlyErrors;
        if (count(Status::pass) == 0) return kNothingRan;
        if (kernels_ran_ > 0) return kAllPassed;
        return context_.gpu_is_promised() ? kSomethingFailed : kPassedWithoutGpu;
    }

    /// The exit code as a word that says what was done.
    [[nodiscard]] const char* verdict_of(int exit) const {
        switch (exit) {
            case kAllPassed:
                return "pass";
            case kSomethingFailed:
                return "fail";
            case kOnlyErrors:
                return "error";
            case kPassedWithoutGpu:
                return kernels_interpreted_ > 0 ? "pass-interpreted" : "pass-loaded";
            case kNothingRan:
                return "nothing-ran";
        }
        return "interrupted";
    }

    int print_totals(long t_ms) {
        json::Value totals = json::Value::object();
        long lines = 0;
        for (const Status status :
             {Status::pass, Status::fail, Status::skip, Status::error, Status::timeout, Status::crash}) {
            totals.set(to_text(status), count(status));
            lines += count(status);
        }
        totals.set("lines", lines);
        const int exit = stop_signal() != 0 ? 128 + stop_signal() : exit_of_run();
        json::Value line = json::Value::object();
        line.set("v", 1);
        line.set("run", context_.run);
        line.set("cell", context_.cell);
        line.set("totals", std::move(totals));
        line.set("verdict", verdict_of(exit));
        line.set("kernels_on_gpu", kernels_ran_);
        line.set("kernels_interpreted", kernels_interpreted_);
        line.set("t_ms", t_ms);
        line.set("exit", exit);
        print(line);
        return exit;
    }

    const Context& context_;
    std::string self_;
    std::FILE* out_;
    std::vector<Planned> plan_;
    std::string nvcc_;  ///< that built the suite
    bool without_nvcc_ = false;
    TemporaryFolder cache_;
    Gpu gpu_state_ = Gpu::unknown;
    json::Value gpu_;
    std::array<long, 6> counts_{};
    long kernels_ran_ = 0;
    long kernels_interpreted_ = 0;
};

}  // namespace

int run_suite(const Context& context, const std::string& self, std::FILE* out) {
    return Runner(context, self, out).run();
}

}  // namespace cudamatrix::suite
