// What error messages mean.
#include "knowledge/facts/schema.hpp"

namespace cudamatrix::facts {
namespace {

constexpr Column kSymptoms[] = {
    {"program", Kind::text, Form::scalar, kRequired},
    {"matches", Kind::text, Form::list, kRequired},
    {"says", Kind::text, Form::scalar, kRequired},
    {"cause", Kind::text, Form::scalar, kRequired},
    {"fix", Kind::text, Form::scalar, kRequired},
    {"rules", Kind::text, Form::list},
    {"probes", Kind::text, Form::list},
    {"facts", Kind::text, Form::list},
};

constexpr Schema kSchemas[] = {
    {"symptoms", "symptom-*", kSymptoms},
};

}  // namespace

std::span<const Schema> symptom_schemas() {
    return kSchemas;
}

}  // namespace cudamatrix::facts
