// Schemas of the tables about operating systems and where their packages come from.
#include "knowledge/facts/schema.hpp"

namespace cudamatrix::facts {
namespace {

constexpr Column kOperatingSystems[] = {
    {"os", Kind::text, Form::scalar, kRequired},
    {"name", Kind::text, Form::scalar, kRequired},
    {"codename", Kind::text},
    {"spellings", Kind::text, Form::list},
    {"libc", Kind::text},
    {"glibc", Kind::version},
    {"gcc", Kind::number},
    {"python", Kind::version, Form::scalar, kOptional, "pythons.python"},
    {"released", Kind::date},
    {"eol", Kind::month},
    {"lts_eol", Kind::month},
    {"externally_managed", Kind::truth},
    {"package_manager", Kind::text},
    {"render", Kind::truth, Form::scalar, kRequired},
    {"wheels", Kind::text},
    {"cuda_wheels", Kind::truth},
    {"cuda_wheels_for", Kind::text, Form::list},
};

constexpr Column kArchiveCompilers[] = {
    {"os", Kind::text, Form::scalar, kRequired, "operating_systems.os"},
    {"gccs", Kind::number, Form::list, kRequired},
};

constexpr Column kPackageArchives[] = {
    {"archive", Kind::text, Form::scalar, kRequired},
    {"url", Kind::text},
    {"snapshots", Kind::text},
    {"snapshots_first", Kind::date},
    {"snapshots_scheme", Kind::text},
};

constexpr Schema kSystemSchemas[] = {
    {"operating_systems", "os-{os}", kOperatingSystems},
    {"archive_compilers", "compilers-{os}", kArchiveCompilers},
    {"package_archives", "archive-{archive}", kPackageArchives},
};

}  // namespace

std::span<const Schema> system_schemas() {
    return kSystemSchemas;
}

}  // namespace cudamatrix::facts
