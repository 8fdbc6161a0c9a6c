// What pip's resolver is asked, and what is made of its answers. The pip of these tests is a shell script.
#include "look/measure/pip_resolver.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.hpp"
#include "look/measure/wheel_info.hpp"
#include "temp_folder.hpp"

using namespace cudamatrix;
using namespace cudamatrix::measure;

namespace {

const std::string kArch(own_processor());

PipQuestion question(std::vector<std::string> pins, std::string python = "3.12") {
    return {std::move(pins), std::move(python), kArch, "2.35"};
}

Outcome ended(int code, std::string out, std::string err) {
    Outcome outcome;
    outcome.exit_code = code;
    outcome.out = std::move(out);
    outcome.err = std::move(err);
    return outcome;
}

// "takes: a==1, b==2", or why there is no row.
std::string answer(const PipQuestion& asked, const Outcome& outcome, std::string_view report = {}) {
    PipRequest request;
    request.index = "https://index.example.org/simple";
    const auto row = resolution_row(asked, outcome, report, "26.3", request);
    if (!row.ok()) return row.failure().diagnostics.front().message;
    for (const auto* column : {"takes", "conflict", "absent"}) {
        if (row->cell(column) != nullptr) return shown(*row, column);
    }
    return "a row without an answer";
}

const std::string kConflict =
    "Collecting b\n\nThe conflict is caused by:\n    The user requested a==1\n    b 2 depends on a<1\n\nTo fix "
    "this you could try to:\n1. loosen\n";
const std::string kImpossible = "ERROR: Cannot install a==1\nERROR: ResolutionImpossible: for help visit x\n";

std::string report_of(const std::string& items) {
    return "{\"version\": \"1\", \"install\": [" + items + "]}";
}
std::string item(const std::string& name, const std::string& version) {
    return fmt::format(R"({{"metadata": {{"name": "{}", "version": "{}"}}}})", name, version);
}

// Programs python3 and python3.12 that stand for pip, and what asking them gives.
struct Machine {
    test::TempFolder folder;
    PipRequest request;
    std::vector<std::string> lines;

    Machine() {
        request.out = (folder / "store").string();
        request.index = "https://index.example.org/simple";
        request.today = "2026-11-25";
        request.environment = {{"PATH", (folder / "bin").string() + ":/usr/bin:/bin"},
                               {"TMPDIR", folder.path().string()}};
        request.progress = [this](std::string_view line) { lines.emplace_back(line); };
    }
    // `does`: what the script runs when pip installs; $report is the file for the report.
    void put_pip(const std::string& name, const std::string& version, const std::string& does) const {
        (void)folder.put(
            "bin/" + name,
            "#!/bin/sh\necho \"$@\" >> " + (folder / "calls").string() +
                "\nfor each in \"$@\"; do case $each in */report.json) report=$each;; esac; done\n"
                "case \"$*\" in *--version) echo '" +
                version + "';; *) " + does + ";; esac\n",
            true);
    }
    PipAnswers ask(std::vector<PipQuestion> questions) {
        request.questions = std::move(questions);
        auto answers = ask_pip(request, Facts::embedded());
        REQUIRE(answers.ok());
        return *std::move(answers);
    }
    [[nodiscard]] std::string store() const { return folder.text("store/resolutions.yaml"); }
};

const std::string kNew = "pip 26.3 from /x/pip (python 3.12)";

}  // namespace

TEST_CASE("a resolution lists all that pip would install") {
    CHECK(answer(question({"a==1.0", "b"}), ended(0, "", ""),
                 report_of(item("B_x", "2") + "," + item("a", "1.0+cu1") + "," + item("b", "3"))) ==
          "takes: a==1.0+cu1, b==3, b-x==2");
}

TEST_CASE("a conflict is told in pip's own lines") {
    CHECK(answer(question({"a==1"}), ended(1, kConflict, kImpossible)) ==
          "conflict: The user requested a==1, b 2 depends on a<1");
}

TEST_CASE("what no wheel satisfies is absent where pip saw others") {
    CHECK(answer(question({"a==9"}),
                 ended(1, "",
                       "ERROR: Could not find a version that satisfies the requirement c<2 (from a) (from "
                       "versions: 2.0, 2.1)\nERROR: No matching distribution found for c<2\n")) ==
          "absent: no wheel satisfies c<2 (from a)");
}

TEST_CASE("what is no answer becomes no row") {
    const auto absent = [](const std::string& what, const std::string& versions) {
        return ended(1, "",
                     fmt::format("ERROR: Could not find a version that satisfies the requirement {} (from "
                                 "versions: {})\nERROR: No matching distribution found for {}\n",
                                 what, versions, what));
    };
    const auto asked = question({"a==1"});
    CHECK(answer(asked, absent("a==1", "none")) == "pip sees no wheel of a==1 on any index");
    // The index of the variant was not seen: the others have builds without one.
    CHECK(answer(asked, absent("a==1+cu118", "1, 2")) == "pip sees no wheel of a==1+cu118 on any index");
    auto unread = absent("a==1", "2");
    unread.err = "WARNING: Retrying (Retry(total=4)) after x\n" + unread.err;
    CHECK(answer(asked, unread) == "an index could not be read");
    CHECK(answer(asked, ended(1, "Could not fetch URL https://x: 403\n" + kConflict, kImpossible)) ==
          "an index could not be read");
    CHECK(answer(asked, ended(1, "", kImpossible)) == "it does not say what the conflict is");
    CHECK(answer(asked, ended(1, "", "ERROR: No matching distribution found for a\n")) ==
          "it does not say why it failed");
    CHECK(answer(asked, ended(1, "", "ERROR: Can not perform a '--user' install\x1b[0m\n")) ==
          "Can not perform a '--user' install?[0m");
    CHECK(answer(asked, ended(2, "", "ERROR: no such option: --report\n")) ==
          "exit code 2: no such option: --report");
    CHECK(answer(asked, ended(1, "", "")) == "exit code 1");
    CHECK(answer(asked,
                 ended(1, "",
                       "ERROR: Could not install packages due to an OSError: no program may be started\n")) ==
          "it would build a source that a demand names by its URL, and with it run code");
    Outcome late;
    late.how = Ended::timed_out;
    CHECK(answer(asked, late).starts_with("timed out after"));
    Outcome killed;
    killed.how = Ended::signalled;
    killed.signal = 9;
    CHECK(answer(asked, killed) == "killed by signal 9");
}

TEST_CASE("a report that is none, or of something else, is no answer") {
    const auto asked = question({"a==1"});
    const auto of = [&](const std::string& report) { return answer(asked, ended(0, "", ""), report); };
    CHECK(of("").find("takes") == std::string::npos);
    CHECK(of("{").find("takes") == std::string::npos);
    CHECK(of("[]") == "pip's report lists nothing");
    CHECK(of("{\"install\": 3}") == "pip's report lists nothing");
    CHECK(of(report_of("3")) == "pip's report has an entry without a name or a version");
    CHECK(of(report_of(item("a", "x y"))) == "pip's report has an entry without a name or a version");
    CHECK(of(report_of(item("--a", "1"))) == "pip's report says nothing of a==1");
    CHECK(of(report_of(item("a;b", "1"))) == "pip's report has an entry without a name or a version");
    CHECK(of(report_of("")) == "pip's report says nothing of a==1");
    CHECK(of(report_of(item("a", "2"))) == "pip's report says nothing of a==1");
}

TEST_CASE("the arguments name wheels of the cell's machine only, and pins behind the options") {
    PipRequest request;
    request.variants = {{"cu118", "https://t.example.org/cu118"}, {"cu121", "https://t.example.org/cu121"}};
    const auto of = [&](const PipQuestion& asked) {
        return pip_arguments(asked, request, Facts::embedded(), "/w");
    };
    auto asked = question({"torch==2.6.0+cu118", "torchvision==0.21.0+cu118"});
    asked.arch = "x86_64";
    asked.glibc = "2.7";
    CHECK(text::join(of(asked), " ") ==
          "install --dry-run --ignore-installed --no-input --no-color --disable-pip-version-check "
          "--progress-bar off --use-feature fast-deps --only-binary :all: --report /w/report.json --target "
          "/w/none --implementation cp --python-version 3.12.99 --abi cp312 --platform manylinux_2_7_x86_64 "
          "--platform manylinux_2_6_x86_64 --platform manylinux_2_5_x86_64 --platform manylinux1_x86_64 "
          "--platform linux_x86_64 --extra-index-url https://t.example.org/cu118 -- torch==2.6.0+cu118 "
          "torchvision==0.21.0+cu118");
    request.mirror = "https://m.example.org/simple";
    const auto other = text::join(of(question({"a"}, "3.13t")), " ");
    for (const auto* part : {" --abi cp313t ", " --python-version 3.13.99 ", " --platform manylinux2014_",
                             " --index-url https://m.example.org/simple -- a"})
        CHECK_MESSAGE(other.find(part) != std::string::npos, other);
    CHECK(other.find("extra-index") == std::string::npos);
    CHECK(other.find("manylinux_2_36") == std::string::npos);
    asked.glibc = "2.4294967295";
    CHECK(of(asked).size() < 200);
    CHECK(text::join(of(question({"a"}, "3.12.4")), " ").find(" --python-version 3.12.4 ") !=
          std::string::npos);
}

TEST_CASE("what pip says is kept as a row, and pip runs where nothing else lies") {
    Machine machine;
    machine.put_pip("python3", kNew,
                    "cat $PYTHONPATH/sitecustomize.py >> " + (machine.folder / "calls").string() +
                        "; pwd >> " + (machine.folder / "calls").string() + "; env | grep -c PIP_PRE >> " +
                        (machine.folder / "calls").string() + "; echo '" + report_of(item("a", "1")) +
                        "' > $report");
    machine.request.environment["PIP_PRE"] = "1";
    const auto answers = machine.ask({question({"a==1"})});
    CHECK(answers.rows == 1);
    CHECK(answers.untold.empty());
    CHECK(answers.unasked.empty());
    CHECK(machine.lines == std::vector<std::string>{fmt::format(
                               "[1/1] pip: a==1 for python 3.12 on {} (glibc 2.35): resolved", kArch)});
    CHECK(machine.store().find("pins: [\"a==1\"]") != std::string::npos);
    CHECK(machine.store().find("takes: [\"a==1\"], pip: \"26.3\", source: "
                               "\"https://index.example.org/simple\", confidence: measured") !=
          std::string::npos);
    const auto calls = machine.folder.text("calls");
    CHECK(calls.find("/cudamatrix-pip.") != std::string::npos);
    CHECK(calls.ends_with("\n0\n"));
    CHECK(calls.find("sys.addaudithook(refuse)") != std::string::npos);
    CHECK(machine.folder.entries() == 3);  // bin, calls, store: the workshop is gone
}

TEST_CASE("an index without a public address is no source") {
    Machine machine;
    machine.put_pip("python3", kNew, "echo '" + report_of(item("a", "1")) + "' > $report");
    for (const auto* index : {"http://127.0.0.1/simple", "file:///x", ""}) {
        machine.request.index = index;
        CHECK(machine.ask({question({"a==1"})}).rows == 1);
        CHECK(machine.store().find("source: \"https://pip.pypa.io/") != std::string::npos);
        CHECK(machine.store().find("127.0.0.1") == std::string::npos);
    }
    machine.request.index = "https://user:secret@index.example.org/simple";
    CHECK(machine.ask({question({"a==1"})}).rows == 1);
    CHECK(machine.store().find("secret") == std::string::npos);
}

TEST_CASE("pip is not asked by another python, an older pip or for another processor") {
    const auto unasked = [](const std::string& version, PipQuestion asked) {
        Machine machine;
        machine.put_pip("python3", version, "echo no > $report");
        const auto answers = machine.ask({asked, asked});
        CHECK(answers.rows == 0);
        CHECK(answers.untold.empty());
        CHECK(machine.folder.text("calls").find("install") == std::string::npos);
        return text::join(answers.unasked, "|");
    };
    const std::string lacks = "needs python 3.12 with pip 25.3 or newer on this machine";
    for (const auto* version : {"pip 26.3 from /x/pip (python 3.11)", "pip 26.3 from /x/pip (python 3.1)",
                                "pip 26.3 from /x (python 3.12", "pip", "", "pip new from /x (python 3.12)",
                                "Python 3.12.4", "snip 26.3 from /x/pip (python 3.12)"}) {
        CAPTURE(std::string(version));
        CHECK(unasked(version, question({"a==1"})) == lacks);
    }
    for (const auto* version : {"25.2", "23.2.1", "22.2", "9"}) {
        CHECK(unasked(fmt::format("pip {} from /x/pip (python 3.12)", version), question({"a==1"})) ==
              fmt::format("{}; pip {} reads whole wheels in a dry run", lacks, version));
    }
    auto other = question({"a==1"});
    other.arch = "riscv64";
    CHECK(unasked(kNew, other) == "needs a machine with riscv64");
    Machine bare;
    bare.request.environment["PATH"] = (bare.folder / "bin").string();
    CHECK(bare.ask({question({"a==1"})}).unasked == std::vector<std::string>{lacks});
}

TEST_CASE("the python of the cell is asked beside python3, with its pip or that of python3") {
    Machine own;
    own.put_pip("python3", "pip 26.3 from /x/pip (python 3.11)", "echo no > $report");
    own.put_pip("python3.12", kNew, "echo '" + report_of(item("a", "1")) + "' > $report");
    CHECK(own.ask({question({"a==1"})}).rows == 1);
    Machine lent;
    // The pip of python3 that is started with --python.
    (void)lent.folder.put(
        "bin/python3",
        "#!/bin/sh\nfor each in \"$@\"; do case $each in */report.json) "
        "report=$each;; esac; done\ncase \"$*\" in\n*--python*--version) echo '" +
            kNew + "';;\n*--version) echo 'pip 26.3 from /x/pip (python 3.11)';;\n*--python*) echo '" +
            report_of(item("a", "1")) + "' > $report;;\nesac\n",
        true);
    lent.put_pip("python3.12", "no module named pip", "echo no > $report");
    CHECK(lent.ask({question({"a==1"})}).rows == 1);
}

TEST_CASE("each question stands for itself where pip gives no answer") {
    Machine machine;
    machine.put_pip(
        "python3", kNew,
        "case \"$*\" in *garbage*) echo '{' > $report;; *silent*) ;; *killed*) kill -9 $$;; *usage*) "
        "echo 'ERROR: no such option' >&2; exit 2;; *) echo '" +
            report_of(item("a", "1")) + "' > $report;; esac");
    const auto answers = machine.ask({question({"garbage"}), question({"silent"}), question({"killed"}),
                                      question({"usage"}), question({"a==1"})});
    CHECK(answers.rows == 1);
    CHECK(answers.untold.size() == 4);
    for (const auto& [pin, why] :
         {std::pair{"killed", "killed by signal 9"}, std::pair{"usage", "exit code 2: no such option"},
          std::pair{"silent", "report.json"}, std::pair{"garbage", "pip's report"}}) {
        CHECK(std::ranges::any_of(answers.untold, [&, pin = pin, why = why](const std::string& line) {
            return line.starts_with(fmt::format("pip's resolver has no answer to {} for", pin)) &&
                   line.find(why) != std::string::npos;
        }));
    }
}

TEST_CASE("an interrupt ends the asking") {
    Machine machine;
    machine.put_pip("python3", kNew, "echo '" + report_of(item("a", "1")) + "' > $report");
    Cancellation cancellation;
    cancellation.request();
    machine.request.cancellation = &cancellation;
    machine.request.questions = {question({"a==1"})};
    const auto answers = ask_pip(machine.request, Facts::embedded());
    REQUIRE(!answers.ok());
    CHECK(answers.failure().code == ExitCode::interrupted);
    CHECK(machine.store().empty());
}
