#include "registry/wheel_index.hpp"

#include <doctest/doctest.h>

#include "base/text.hpp"
#include "fakes/http_server.hpp"

using namespace cudamatrix;

namespace {

const std::string kSha(64, 'a');
constexpr const char* kPage = "https://index.example.org/simple/torch/";

/// Each file on a line: name, url, hash, python, yanked, size; or the message.
std::string files_of(std::string_view page, std::string_view type = "text/html",
                     const std::string& url = kPage) {
    const auto files = parse_project_page(page, type, url);
    if (!files.ok()) return files.failure().diagnostics.front().message;
    std::string out;
    for (const auto& file : *files) {
        out += fmt::format("{} {} {} {} {} {}\n", file.name, file.url, file.sha256.substr(0, 3),
                           file.requires_python, file.yanked ? "yanked:" + file.yanked_reason : "-",
                           file.size.value_or(0));
    }
    return out;
}

std::string parts_of(std::string_view file) {
    const auto name = parse_wheel_name(file);
    if (!name) return "none";
    return fmt::format("{}|{}|{}|{}|{}|{}", name->distribution, name->version, name->build,
                       text::join(name->pythons, ","), text::join(name->abis, ","),
                       text::join(name->platforms, ","));
}

}  // namespace

TEST_CASE("A wheel's name gives its parts") {
    CHECK(parts_of("torch-2.6.0+cu124-cp312-cp312-manylinux1_x86_64.whl") ==
          "torch|2.6.0+cu124||cp312|cp312|manylinux1_x86_64");
    CHECK(parts_of("triton-2.0.0-1-cp311-cp311-manylinux2014_x86_64.manylinux_2_17_x86_64.whl") ==
          "triton|2.0.0|1|cp311|cp311|manylinux2014_x86_64,manylinux_2_17_x86_64");
    CHECK(parts_of("six-1.16.0-py2.py3-none-any.whl") == "six|1.16.0||py2,py3|none|any");
    CHECK(parts_of("nvidia_cublas_cu12-12.4.5.8-py3-none-manylinux2014_x86_64.whl") ==
          "nvidia_cublas_cu12|12.4.5.8||py3|none|manylinux2014_x86_64");
    for (const auto* bad :
         {"", ".whl", "torch-2.6.0.tar.gz", "torch-2.6.0-cp312-cp312.whl",
          "torch-2.6.0-cp312-cp312-any.whl.asc", "a-1-x-cp312-cp312-any.whl", "a-1-2-3-cp312-cp312-any.whl",
          "-1-cp312-cp312-any.whl", "a--cp312-cp312-any.whl", "a-1--cp312-any.whl",
          "a-1-cp312..cp313-cp312-any.whl", "a-1-cp312-cp312-.whl", "../a-1-cp312-cp312-any.whl",
          "a/b-1-cp312-cp312-any.whl", "a b-1-cp312-cp312-any.whl", "a-1;rm-cp312-cp312-any.whl",
          "a-1-cp312-cp312-any\n.whl"}) {
        CHECK_MESSAGE(parts_of(bad) == "none", bad);
    }
    CHECK(parts_of(std::string(600, 'a') + "-1-py3-none-any.whl") == "none");
}

TEST_CASE("A source distribution's name gives its version") {
    CHECK(sdist_version("flash_attn-2.6.0.post1.tar.gz", "flash-attn") == "2.6.0.post1");
    CHECK(sdist_version("flash-attn-1.0.tar.gz", "flash-attn") == "1.0");
    CHECK(sdist_version("a-1.zip", "A") == "1");
    CHECK_FALSE(sdist_version("b-1.zip", "a"));
    CHECK_FALSE(sdist_version("a-1.whl", "a"));
    CHECK_FALSE(sdist_version("a-.zip", "a"));
    CHECK(text::normalised_project("Nvidia_cuBLAS.-cu12") == "nvidia-cublas-cu12");
}

TEST_CASE("A page of HTML gives files with what the index says of them") {
    const auto page =
        fmt::format(R"(<!DOCTYPE html><html><head><meta name="pypi:repository-version" content="1.1">
<!-- <a href="no-1-py3-none-any.whl">no</a> --></head><body>
<a href="../../files/torch-2.6.0%2Bcu124-cp312-cp312-linux_x86_64.whl#sha256={0}" data-requires-python="&gt;=3.9.0" data-core-metadata="sha256=x">t</a>
<A HREF='https://files.example.org/a-1-py3-none-any.whl?sig=1#sha256={0}&egg=a' data-yanked>a</A>
<a data-yanked="broken &amp; bad &#39;&#x41;&#39; &nope;" data-dist-info-metadata=true href=/b-1.tar.gz>b</a>
<a href="c-1-py3-none-any.whl#sha256=SHORT" data-core-metadata="false"/><a name="x">no link</a>
</body></html>)",
                    kSha);
    CHECK(files_of(page) ==
          "torch-2.6.0+cu124-cp312-cp312-linux_x86_64.whl "
          "https://index.example.org/files/torch-2.6.0%2Bcu124-cp312-cp312-linux_x86_64.whl aaa >=3.9.0 - 0\n"
          "a-1-py3-none-any.whl https://files.example.org/a-1-py3-none-any.whl?sig=1 aaa  yanked: 0\n"
          "b-1.tar.gz https://index.example.org/b-1.tar.gz   yanked:broken & bad 'A' &nope; 0\n"
          "c-1-py3-none-any.whl https://index.example.org/simple/torch/c-1-py3-none-any.whl   - 0\n");
    CHECK(files_of("<base href='https://cdn.example.org/w/'><a href='a-1-py3-none-any.whl'>") ==
          "a-1-py3-none-any.whl https://cdn.example.org/w/a-1-py3-none-any.whl   - 0\n");
    CHECK(files_of("").empty());
    CHECK(files_of("<a href").empty());
    CHECK(files_of("<a href=\"unclosed") ==
          "unclosed https://index.example.org/simple/torch/unclosed   - 0\n");
    CHECK(files_of("<!-- never closed <a href=x>").empty());
    CHECK(files_of("<a href='%zz'>").empty());
}

TEST_CASE("A page of JSON gives the same") {
    const auto page = fmt::format(R"({{"meta": {{"api-version": "1.3"}}, "name": "torch", "files": [
 {{"filename": "a-1-py3-none-any.whl", "url": "../../a.whl", "hashes": {{"sha256": "{}"}}, "requires-python": ">=3.9",
  "yanked": "bad", "core-metadata": {{"sha256": "x"}}, "size": 12, "upload-time": "2026-10-28T10:00:00Z"}},
 {{"filename": "b.zip", "url": "https://files.example.org/b.zip", "yanked": false, "core-metadata": false, "size": -1, "requires-python": null}}]}})",
                                  text::replace_all(kSha, "a", "A"));
    CHECK(files_of(page, "application/vnd.pypi.simple.v1+json; charset=utf-8") ==
          "a-1-py3-none-any.whl https://index.example.org/a.whl aaa >=3.9 yanked:bad 12\n"
          "b.zip https://files.example.org/b.zip   - 0\n");
}

TEST_CASE("Pages that are none are refused") {
    const std::string name = "https://index.example.org/simple/torch/: ", html = "text/html";
    const std::string json = "application/vnd.pypi.simple.v1+json";
    const std::vector<std::vector<std::string>> cases{
        {"x", "text/plain", "it is not an index page: its content type is 'text/plain'"},
        {"x", "", "it is not an index page: its content type is ''"},
        {"[]", json, "its JSON has no list of files"},
        {"{\"files\": {}}", json, "its JSON has no list of files"},
        {"{\"files\": [1]}", json, "a file in its JSON is not an object"},
        {"{\"meta\": {\"api-version\": \"2.0\"}, \"files\": []}", json,
         "it speaks version 2.0 of the index interface, version 1 is known"},
        {"<meta name='pypi:repository-version' content='10.0'>", html,
         "it speaks version 10.0 of the index interface, version 1 is known"},
        {"<base href='ftp://x/'>", html, "its base is not an http or https URL"}};
    for (const auto& each : cases)
        CHECK(files_of(each[0], each[1]) == name + each[2]);
    for (const auto* bad :
         {"file:///etc/passwd", "javascript:alert(1)", "data:x", "ftp://h/a.whl", "//", "http://"}) {
        CHECK(files_of(fmt::format("<a href='{}'>", bad)) ==
              name + fmt::format("a file is at '{}', which is not an http or https URL", bad));
        CHECK(files_of(fmt::format(R"({{"files": [{{"filename": "a", "url": "{}"}}]}})", bad), json) ==
              name + fmt::format("a file is at '{}', which is not an http or https URL", bad));
    }
    CHECK(files_of("{", json).starts_with("https://index.example.org/simple/torch/"));
    // Cut anywhere, a page gives fewer files or an error, never a crash.
    const std::string whole =
        "<a href='a-1-py3-none-any.whl' data-yanked='x &amp; y' >a</a><!-- x --><a href=b>";
    for (std::size_t size = 0; size < whole.size(); ++size)
        static_cast<void>(files_of(whole.substr(0, size)));
}

TEST_CASE("URLs are joined, shown and mirrored") {
    CHECK(url::join("https://h/a/b/c", "../x?y#z") == "https://h/a/x?y#z");
    CHECK(url::join("https://h/a/b/", "./../../../x") == "https://h/x");
    CHECK(url::join("https://h/a?q", "#f") == "https://h/a#f");
    CHECK(url::join("https://u:p@h/a/", "b") == "https://u:p@h/a/b");
    CHECK(url::join("https://h", "b") == "https://h/b");
    CHECK(url::join("https://h/a", "//other/b") == "https://other/b");
    CHECK_FALSE(url::join("https://h/a", "mailto:x"));
    CHECK_FALSE(url::join("https://h/a", "b c"));
    CHECK(url::shown("https://user:pw@Host:8080/p/x?token=1#sha") == "https://host:8080/p/x");
    CHECK(url::shown("nonsense pw") == "(no http or https URL)");
    const Mirrors mirrors{{"https://a.org", "https://m/one/"}, {"https://a.org/deep", "https://m/two"}};
    CHECK(mirrored("https://a.org/x", mirrors) == "https://m/one/x");
    CHECK(mirrored("https://a.org/deep/x", mirrors) == "https://m/two/x");
    CHECK(mirrored("https://a.org/deeper", mirrors) == "https://m/one/deeper");
    CHECK(mirrored("https://a.org.evil/x", mirrors) == "https://a.org.evil/x");
    CHECK(text::percent_decoded("a%2Bb") == "a+b");
    CHECK_FALSE(text::percent_decoded("a%2"));
    CHECK_FALSE(text::percent_decoded("a%g0"));
}

TEST_CASE("The files of a project come from the index") {
    fakes::HttpServer server;
    server.put("simple/nvidia-cublas/index.html", "<a href='a-1-py3-none-any.whl'>");
    server.put("simple/j/index.json", R"({"files": []})");
    server.put("simple/t/index.txt", "x");
    auto http = Http::open({});
    REQUIRE(http.ok());
    HttpConnection connection(**http);
    const auto files = project_files(connection, server.url("redirect/plain/simple//"), "Nvidia.cuBLAS");
    REQUIRE(files.ok());
    REQUIRE(files->size() == 1);
    CHECK(files->front().url == server.url("plain/simple/nvidia-cublas/a-1-py3-none-any.whl"));
    CHECK(project_files(connection, server.url("plain/simple"), "j")->empty());
    const auto message = [&](const std::string& path, std::string_view project) {
        const auto result = project_files(connection, server.url(path), project);
        return result.ok() ? "files" : result.failure().diagnostics.front().message;
    };
    CHECK(message("plain/simple", "none") ==
          fmt::format("http://{}/plain/simple has no project none", server.host()));
    CHECK(message("status-403/simple", "x") ==
          fmt::format("http://{}/status-403/simple/x/: it is forbidden (403)", server.host()));
    CHECK(message("plain/simple", "t") ==
          fmt::format("http://{}/plain/simple/t/: it is not an index page: its content type is "
                      "'application/octet-stream'",
                      server.host()));
}

TEST_CASE("The default index is what pip would ask") {
    CHECK(default_index({{"PIP_INDEX_URL", "https://u:p@i.example.org/simple"}}).value() ==
          "https://u:p@i.example.org/simple");
    const auto without = default_index({{"PATH", "/nonexistent"}});
    REQUIRE_FALSE(without.ok());
    CHECK(without.failure().diagnostics.front().message ==
          "there is no pip here that could be asked for its default index");
    CHECK(without.failure().diagnostics.front().fix == "name the index by --index URL or PIP_INDEX_URL");

    fakes::HttpServer folder;  // for its folder only
    const auto pip = [&](const std::string& config, const std::string& help) {
        folder.put("config", config);
        folder.put("help", help);
        folder.put("pip", fmt::format(
                              "#!/bin/sh\ncase $1 in config) cat '{0}/config' ;; *) cat '{0}/help' ;; esac\n",
                              folder.root().string()));
        std::filesystem::permissions(folder.root() / "pip", std::filesystem::perms::owner_all);
        std::error_code error;
        std::filesystem::create_symlink("/bin/cat", folder.root() / "cat", error);
        const auto index = default_index({{"PATH", folder.root().string()}});
        return index.ok() ? index.value() : index.failure().diagnostics.front().message;
    };
    CHECK(pip("global.timeout='1'\nglobal.index-url='https://g.example.org/simple'\n", "") ==
          "https://g.example.org/simple");
    CHECK(pip("global.index-url='https://g/s'\ninstall.index-url=\"https://i/s\"\n", "") == "https://i/s");
    CHECK(pip("", "  -i, --index-url <url>  Base URL (default https://d.example.org/simple). More\n") ==
          "https://d.example.org/simple");
    CHECK(pip("", "--index-url <url>") == "pip of this machine does not say which index it asks");
    CHECK(pip("", "") == "pip of this machine does not say which index it asks");
}
