// What a Watch sees while templates are filled: the origin of each line, and all mistakes at once.
#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

#include "base/text.hpp"
#include "folders.hpp"
#include "knowledge/facts/facts.hpp"
#include "render/files/template_check.hpp"
#include "render/templates/template.hpp"
#include "temp_folder.hpp"

using namespace cudamatrix;
using mustache::Data;

namespace {

std::string origins_of(mustache::Library& library, const std::string& name, const Data& model) {
    mustache::Watch watch;
    watch.origins = true;
    library.set_watch(&watch);
    const auto text = library.fill(name, model);
    library.set_watch(nullptr);
    REQUIRE(text.ok());
    std::string out;
    for (const auto& [at, through] : watch.lines.at(*text)) {
        out += fmt::format("{}:{}:{}", at.file, at.line, at.column);
        for (const auto& one : through)
            out += fmt::format(" < {}:{}", one.file, one.line);
        out += "\n";
    }
    return out;
}

std::vector<std::string> mistakes_of(mustache::Library& library, const std::string& name, const Data& model) {
    mustache::Watch watch;
    watch.check = true;
    library.set_watch(&watch);
    CHECK(library.fill(name, model).ok());
    library.set_watch(nullptr);
    std::vector<std::string> out;
    for (const auto& one : watch.mistakes)
        out.push_back(
            fmt::format("{}:{}:{}: {}", one.where.file, one.where.line, one.where.column, one.message));
    return out;
}

}  // namespace

TEST_CASE("every line has the place that wrote its first character, and the partials around it") {
    mustache::Library library;
    library.add("f/top",
                "{{! a comment }}\none\n{{# list }}\n{{ . | word }} item\n{{/ list }}\n  {{> part }}\nlast",
                "T");
    library.add("f/partials/part.mustache", "p1\n\n{{> inner }}\n{{ x | word }}{{ x | word }}\n", "P");
    library.add("f/partials/inner.mustache", "i1\n", "I");
    const Data model = Data::Object{{"list", Data::List{"a", "b"}}, {"x", "v"}};
    CHECK(origins_of(library, "f/top", model) ==
          "T:2:1\n"
          "T:4:1\n"
          "T:4:1\n"
          "P:1:1 < T:6\n"
          "P:2:1 < T:6\n"
          "I:1:1 < P:3 < T:6\n"
          "P:4:1 < T:6\n"
          "T:7:1\n");
    library.add("f/beside", "{{! beside }}one\ntwo\n{{ x | word }}three\nfour", "B");
    CHECK(origins_of(library, "f/beside", model) ==
          "B:1:14\n"
          "B:2:1\n"
          "B:3:1\n"
          "B:4:1\n");
}

TEST_CASE("without a watch nothing is kept") {
    mustache::Library library;
    library.add("t", "a\n", "T");
    mustache::Watch watch;
    library.set_watch(&watch);
    CHECK(library.fill("t", Data::Object{}).ok());
    CHECK(watch.lines.empty());
    CHECK(watch.mistakes.empty());
}

TEST_CASE("a check goes on behind a mistake, enters what is false, and names each mistake once") {
    mustache::Library library;
    library.add(
        "f/t",
        "{{ nx | word }}\n{{# no }}\n{{ ny | word }}\n{{ empty | path }}\n{{/ no }}\n{{^ yes }}\n{{> gone "
        "}}\n"
        "{{/ yes }}\n{{ yes | word }}\n{{# text }}{{/ text }}\n{{# list }}{{ nz | word }}{{/ list }}\n",
        "T");
    const Data model = Data::Object{{"no", false},
                                    {"yes", true},
                                    {"empty", ""},
                                    {"text", "t"},
                                    {"list", Data::List{Data::Object{}, Data::Object{}}}};
    CHECK(mistakes_of(library, "f/t", model) ==
          std::vector<std::string>{"T:1:1: there is no value nx", "T:3:1: there is no value ny",
                                   "T:7:1: there is no partial gone (f/partials/gone.mustache)",
                                   "T:9:1: yes is a boolean: only a text can be written out",
                                   "T:10:1: text is a text: a section needs a boolean, a list or an object",
                                   "T:11:12: there is no value nz"});
    library.add("f/loop", "{{> loop }}\n", "L");
    library.add("f/partials/loop.mustache", "{{> loop }}\n", "P");
    CHECK(
        mistakes_of(library, "f/loop", model) ==
        std::vector<std::string>{
            "P:1:1: the partial loop includes itself: f/partials/loop.mustache > f/partials/loop.mustache"});
    std::string chain = "f/chain";
    for (int i = 0; i <= 16; ++i) {
        library.add(chain, fmt::format("{{{{> c{} }}}}\n", i), chain);
        chain = fmt::format("f/partials/c{}.mustache", i);
    }
    library.add(chain, "", chain);
    CHECK(mistakes_of(library, "f/chain", model) ==
          std::vector<std::string>{"f/partials/c15.mustache:1:1: partials are nested deeper than 16"});
    library.add("f/v", "{{ empty | path }}\n", "V");
    CHECK(mistakes_of(library, "f/v", model) ==
          std::vector<std::string>{"V:1:1: the value of empty holds nothing, where a path is needed: \"\" "
                                   "cannot be written as path"});
}

TEST_CASE("our own templates have no mistake, and the sample fills all of them") {
    const auto checked = check_templates({}, Facts::embedded());
    for (const auto& one : checked.mistakes)
        MESSAGE(render(one, {}));
    CHECK(checked.mistakes.empty());
    CHECK(checked.filled > 100);
    CHECK(checked.templates.size() == list_templates({})->size());
    CHECK(checked.templates.front().name < checked.templates.back().name);
}

TEST_CASE("a mistake in any template or partial is found: the sample fills each of them") {
    namespace fs = std::filesystem;
    const test::TempFolder folder;
    const auto ours = fs::path(source_dir()) / "templates";
    std::set<std::string> names;
    for (const auto& entry : fs::recursive_directory_iterator(ours)) {
        if (entry.path().extension() != ".mustache") continue;
        const auto name = entry.path().lexically_relative(ours);
        folder.put(name, test::bytes_of(entry.path()) + "{{ no_such_value | word }}\n");
        names.insert(name.generic_string());
    }
    const auto checked = check_templates(folder.path(), Facts::embedded());
    std::set<std::string> found;
    for (const auto& one : checked.mistakes) {
        if (one.message == "there is no value no_such_value")
            found.insert(fs::path(one.where.file).lexically_relative(folder.path()).generic_string());
    }
    CHECK(names.size() > 30);
    std::vector<std::string> unseen;
    std::set_difference(names.begin(), names.end(), found.begin(), found.end(), std::back_inserter(unseen));
    CHECK(text::join(unseen, " ") == "");
}
