#include "support.hpp"

using namespace cudamatrix;

namespace {

bool reads(const std::string& text) {
    return read_matrix_text("version: 1\naxes: {cuda: [\"11.8.0\"]}\n" + text, "matrix.yaml").ok();
}

}  // namespace

TEST_CASE("what only looks like a secret is a value like any other") {
    for (const std::string value :
         {"http://proxy.example.org:3128", "https://user@host.example.org/x",
          "ssh://git@host.example.org:22/x", "http://host.example.org:80/a@b",
          "http://a.example.org,user:x@b", "hf_transfer", "hf_home", "ghp_short1", "sk-learn",
          "sk-learn-contrib-imbalanced-learn-and-more", "AKIA", "AKIAIOSFODNN7EXAMPL",
          "AKIAIOSFODNN7EXAMPLE2", "task-0123456789abcdef0123456789abcdef", "glpat-x",
          "mysk-0123456789012345678901234567890123"}) {
        CAPTURE(value);
        CHECK(reads("set: {env: {HOME_OF_IT: \"" + value + "\"}}\n"));
    }
    for (const std::string value :
         {"http://u:p@h", "HTTPS://u:p@h", "postgres://u:p@h:5432/db", "redis://:p@h", "http://u:p@w@h",
          "x,http://u:p@h", "http://a:b,http://u:p@h", "AKIAIOSFODNN7EXAMPLE", "k=ASIAIOSFODNN7EXAMPLE",
          "ghs_abcdefghijklmnopqrstuvwxyz0123456789", "sk-ant-0123456789abcdef0123456789abcdef",
          "glpat-abcdefghij0123456789", "Bearer hf_abcdefghijklmnopqrstuvwxyz01234567"}) {
        CAPTURE(value);
        CHECK_FALSE(reads("set: {env: {HOME_OF_IT: \"" + value + "\"}}\n"));
    }
}
