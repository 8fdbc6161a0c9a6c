// Folders of users: what replaces a template, which partials come with it, and what is refused.
#include <doctest/doctest.h>

#include "base/text.hpp"
#include "knowledge/facts/facts.hpp"
#include "render/files/template_check.hpp"
#include "render/templates/template.hpp"
#include "temp_folder.hpp"

using namespace cudamatrix;
using mustache::Data;
using mustache::Library;

namespace {

const Data::Object kSmallModel{{"name", "world"}, {"evil", "a\nRUN b"}, {"quote", "it's; $x"}};

// A user's folder.
struct UserFolder : test::TempFolder {
    // Without the folder's own place.
    [[nodiscard]] std::string plain(const std::string& text) const {
        return text::replace_all(text, path().string() + "/", "");
    }
};

// Two families, t and u; both include a partial of all.
Library ours() {
    Library library;
    library.add("t/main.mustache", "ours {{> p }}\n{{> all }}\n", "main.mustache");
    library.add("t/partials/p.mustache", "ours too", "p.mustache");
    library.add("u/main.mustache", "other\n{{> all }}\n", "other.mustache");
    library.add("partials/all.mustache", "all\n", "all.mustache");
    return library;
}

std::string mistake_lines(const UserFolder& folder, const std::vector<Diagnostic>& mistakes) {
    std::string out;
    for (const auto& one : mistakes) {
        if (!one.where.file.empty())
            out += fmt::format("{}:{}:{} ", one.where.file, one.where.line, one.where.column);
        out += one.message + (one.fix.empty() ? "" : " | " + one.fix) + "\n";
    }
    return folder.plain(out);
}

std::string refused(const UserFolder& folder) {
    auto library = ours();
    const auto done = library.override_from(folder.path());
    REQUIRE_FALSE(done.ok());
    CHECK(done.failure().code == ExitCode::bad_input);
    return mistake_lines(folder, done.failure().diagnostics);
}

Library taken(const UserFolder& folder) {
    auto library = ours();
    const auto done = library.override_from(folder.path());
    REQUIRE_MESSAGE(done.ok(), (done.ok() ? "" : mistake_lines(folder, done.failure().diagnostics)));
    return library;
}

std::string filled(const UserFolder& folder, const std::string& name = "t/main.mustache") {
    auto library = taken(folder);
    const auto text = library.fill(name, kSmallModel);
    return text.ok() ? *text : mistake_lines(folder, text.failure().diagnostics);
}

std::string listed(const UserFolder& folder) {
    std::string out;
    for (const auto& one : taken(folder).list()) {
        out += fmt::format("{}{} <{}>\n", one.name,
                           one.added ? " added"
                           : one.own ? " own"
                                     : "",
                           text::join(one.included_by, ", "));
    }
    return out;
}

}  // namespace

TEST_CASE("a file of the same name replaces ours") {
    const UserFolder folder;
    folder.put("t/partials/p.mustache", "theirs");
    CHECK(filled(folder) == "ours theirs\nall\n");
    CHECK(taken(folder).hash() != ours().hash());
}

TEST_CASE("a new partial comes with what includes it") {
    const UserFolder folder;
    folder.put("t/main.mustache", "mine\n  {{> extra }}\n{{> all }}\n");
    SUBCASE("for one family") {
        folder.put("t/partials/extra.mustache", "{{ name | word }}\n{{ quote | arg }}\n");
        CHECK(filled(folder) == "mine\n  world\n  'it'\\''s; $x'\nall\n");
        CHECK(listed(folder) ==
              "partials/all.mustache <t/main.mustache, u/main.mustache>\n"
              "t/main.mustache own <>\n"
              "t/partials/extra.mustache added <t/main.mustache>\n"
              "t/partials/p.mustache <>\n"
              "u/main.mustache <>\n");
    }
    SUBCASE("for all families, and through another partial of the user's") {
        folder.put("partials/extra.mustache", "{{> more }}\n");
        folder.put("partials/more.mustache", "more\n");
        folder.put("partials/all.mustache", "{{> more }}\n");
        CHECK(filled(folder) == "mine\n  more\nmore\n");
        CHECK(filled(folder, "u/main.mustache") == "other\nmore\n");
        CHECK(listed(folder) ==
              "partials/all.mustache own <t/main.mustache, u/main.mustache>\n"
              "partials/extra.mustache added <t/main.mustache>\n"
              "partials/more.mustache added <partials/all.mustache, partials/extra.mustache>\n"
              "t/main.mustache own <>\n"
              "t/partials/p.mustache <>\n"
              "u/main.mustache <>\n");
    }
    SUBCASE("in the place of a partial of all families, for one") {
        folder.put("t/main.mustache", "mine {{> all }}");
        folder.put("t/partials/all.mustache", "of t");
        CHECK(filled(folder) == "mine of t");
        CHECK(filled(folder, "u/main.mustache") == "other\nall\n");
    }
    SUBCASE("its text counts in the hash") {
        folder.put("t/partials/extra.mustache", "a");
        const auto before = taken(folder).hash();
        folder.put("t/partials/extra.mustache", "b");
        CHECK(taken(folder).hash() != before);
    }
    SUBCASE("lines know it") {
        folder.put("t/partials/extra.mustache", "one\ntwo\n");
        auto library = taken(folder);
        mustache::Watch watch;
        watch.origins = true;
        library.set_watch(&watch);
        const auto text = library.fill("t/main.mustache", kSmallModel);
        REQUIRE(text.ok());
        const auto& second = watch.lines.at(*text).at(2);
        CHECK(folder.plain(second.at.file) == "t/partials/extra.mustache");
        CHECK(second.at.line == 2);
        REQUIRE(second.through.size() == 1);
        CHECK(folder.plain(second.through.front().file) == "t/main.mustache");
        CHECK(second.through.front().line == 2);
    }
}

TEST_CASE("a value is held to its context inside of a user's partial") {
    const UserFolder folder;
    folder.put("t/main.mustache", "RUN {{> extra }}\n");
    const auto with = [&](const std::string& text) {
        folder.put("t/partials/extra.mustache", text);
        return filled(folder);
    };
    CHECK(with("{{ evil | arg }}") ==
          "t/partials/extra.mustache:1:1 the value of evil holds a control character, a line end or invalid "
          "text: \"a?RUN b\" cannot be written as arg\n");
    CHECK(
        with("x {{ quote | path }}").starts_with("t/partials/extra.mustache:1:3 the value of quote holds "));
    CHECK(with("{{ quote | word }}").starts_with("t/partials/extra.mustache:1:1 the value of quote holds "));
    CHECK(with("{{ quote | arg }}") == "RUN 'it'\\''s; $x'\n");
    CHECK(with("{{ name }}")
              .starts_with("t/partials/extra.mustache:1:1 {{ name }} names no context: expected one of"));
    CHECK(with("{{{ evil }}}").starts_with("t/partials/extra.mustache:1:1 {{{ does not exist here"));
    CHECK(with("{{& evil }}").starts_with("t/partials/extra.mustache:1:1 {{& does not exist here"));
    CHECK(with("{{= | | =}}").starts_with("t/partials/extra.mustache:1:1 {{= does not exist here"));
    CHECK(with("\n{{ nmae | word }}") ==
          "t/partials/extra.mustache:2:1 there is no value nmae | did you mean name?\n");
    CHECK(with("{{# nmae }}{{/ nmae }}") ==
          "t/partials/extra.mustache:1:1 there is no value nmae | did you mean name?\n");
    CHECK(with("{{> extra }}") ==
          "t/partials/extra.mustache:1:1 the partial extra includes itself: t/partials/extra.mustache > "
          "t/partials/extra.mustache\n");
    CHECK(
        with("{{> extar }}") ==
        "t/partials/extra.mustache:1:1 there is no partial extar (t/partials/extar.mustache) | did you mean "
        "extra?\n");
}

TEST_CASE("what replaces nothing and what nothing includes is refused") {
    const UserFolder folder;
    const auto nothing_includes = [](const std::string& name, const std::string& meant = {}) {
        return name + " replaces no template of ours, and no template includes it" +
               (meant.empty() ? "" : " | did you mean " + meant + "?") + "\n";
    };
    SUBCASE("a template") {
        folder.put("t/mian.mustache", "{{> q }}");
        folder.put("t/partials/q.mustache", "");
        CHECK(refused(folder) ==
              "t/mian.mustache replaces no template of ours | did you mean t/main.mustache?\n" +
                  nothing_includes("t/partials/q.mustache", "t/partials/p.mustache"));
    }
    SUBCASE("a partial") {
        folder.put("t/partials/q.mustache", "theirs");
        CHECK(refused(folder) == nothing_includes("t/partials/q.mustache", "t/partials/p.mustache"));
    }
    SUBCASE("a partial that only a comment names") {
        folder.put("t/partials/qqqq.mustache", "");
        folder.put("t/main.mustache", "{{! {{> qqqq }}");
        CHECK(refused(folder) == nothing_includes("t/partials/qqqq.mustache"));
    }
    SUBCASE("partials that include each other and themselves alone") {
        folder.put("t/partials/left.mustache", "{{> right }}{{> left }}");
        folder.put("t/partials/right.mustache", "{{> left }}");
        CHECK(refused(folder) ==
              nothing_includes("t/partials/left.mustache") + nothing_includes("t/partials/right.mustache"));
    }
    SUBCASE("a partial beside one that a tag asks for") {
        folder.put("t/main.mustache", "{{> banner }}");
        folder.put("t/partials/baner.mustache", "");
        CHECK(refused(folder) == nothing_includes("t/partials/baner.mustache", "t/partials/banner.mustache"));
    }
    SUBCASE("a partial in the folder of another family, and in none") {
        folder.put("t/main.mustache", "{{> banner }}");
        folder.put("nowhere/partials/banner.mustache", "");
        folder.put("u/partials/banner.mustache", "");
        CHECK(refused(folder) ==
              nothing_includes("nowhere/partials/banner.mustache", "t/partials/banner.mustache") +
                  nothing_includes("u/partials/banner.mustache", "t/partials/banner.mustache"));
    }
    SUBCASE("a partial that hides behind another") {
        folder.put("t/main.mustache", "{{> banner }}");
        folder.put("t/partials/banner.mustache", "");
        folder.put("partials/banner.mustache", "");
        folder.put("t/partials/deep/banner.mustache", "");
        CHECK(refused(folder) == nothing_includes("partials/banner.mustache") +
                                     nothing_includes("t/partials/deep/banner.mustache"));
    }
    SUBCASE("a partial whose name no tag can say") {
        folder.put("t/main.mustache", "{{> big-banner }}");
        folder.put("t/partials/big-banner.mustache", "");
        CHECK(refused(folder) ==
              "t/main.mustache:1:1 invalid name \"big-banner\": expected letters, digits and _, joined by "
              "'.'\n");
    }
    SUBCASE("what does not parse comes first: it may include the partial") {
        folder.put("t/main.mustache", "{{> banner");
        folder.put("t/partials/banner.mustache", "");
        CHECK(refused(folder) == "t/main.mustache:1:1 the tag {{ is never closed | close it with }}\n");
        folder.put("t/main.mustache", "{{> banner }}");
        CHECK(filled(folder).empty());
    }
    SUBCASE("a folder without templates, and one that is not there") {
        CHECK(refused(folder) == folder.path().string() + " holds no *.mustache file\n");
        CHECK_FALSE(ours().override_from(folder.path() / "nowhere").ok());
    }
}

TEST_CASE("a mistake in a template names the file of the user") {
    const UserFolder folder;
    folder.put("t/main.mustache", "\n{{ name }}");
    CHECK(filled(folder).starts_with("t/main.mustache:2:1 {{ name }} names no context"));
}

TEST_CASE("a check looks into the partials of a user as well") {
    const UserFolder folder;
    const auto mistakes = [&] {
        return mistake_lines(folder, check_templates(folder.path(), Facts::embedded()).mistakes);
    };
    folder.put("partials/apt_clean.mustache", "{{> my_clean }}\n");
    folder.put("partials/my_clean.mustache", "true\n");
    CHECK(mistakes().empty());
    folder.put("partials/my_clean.mustache", "true\n{{# ca }}\n{{ no_such_value | word }}\n{{/ ca }}\n");
    CHECK(mistakes() == "partials/my_clean.mustache:3:1 there is no value no_such_value\n");
    folder.put("partials/my_clean.mustache", "{{ path }}\n");
    CHECK(mistakes().starts_with("partials/my_clean.mustache:1:1 {{ path }} names no context"));
    folder.put("partials/my_clean.mustache", "{{> apt_clean }}\n{{> my_clean }}\n");
    CHECK(
        mistakes() ==
        "partials/my_clean.mustache:1:1 the partial apt_clean includes itself: partials/apt_clean.mustache > "
        "partials/my_clean.mustache > partials/apt_clean.mustache\n"
        "partials/my_clean.mustache:2:1 the partial my_clean includes itself: partials/my_clean.mustache > "
        "partials/my_clean.mustache\n");
    // Told once, though it is both what does not parse and what a partial waits for.
    folder.put("partials/apt_clean.mustache", "{{> my_clean\n");
    folder.put("partials/my_clean.mustache", "true\n");
    CHECK(mistakes() == "partials/apt_clean.mustache:1:1 the tag {{ is never closed | close it with }}\n");
    folder.put("partials/apt_clean.mustache", "{{> my_claen }}\n");
    CHECK(
        mistakes() ==
        "partials/my_clean.mustache replaces no template of ours, and no template includes it | did you mean "
        "partials/my_claen.mustache?\n"
        "partials/apt_clean.mustache:1:1 there is no partial my_claen (debian/partials/my_claen.mustache)\n"
        "partials/apt_clean.mustache:1:1 there is no partial my_claen "
        "(registry/partials/my_claen.mustache)\n");
}
