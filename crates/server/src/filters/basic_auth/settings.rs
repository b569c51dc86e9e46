//! The section of a realm: `auth = "users"`.

use std::sync::Arc;

use vervet_config::{Diagnostic, Diagnostics, Named, Path, Secret, Text, section};

use super::filter::{BasicAuth, BasicAuthOptions};
use super::stored_hash::{OldHashes, StoredHash};
use super::user_file::check_user_name;
use super::users::{ReportError, UserSources, Users};
use super::verifier::Verifier;
use crate::error_log::Level;
use crate::filters::FilterDirective;
use crate::filters::rate::Rate;
use crate::resources::{Needs, Opened, Resources};
use crate::web::Pipeline;

section! {
    /// Requires a user name and password (HTTP basic authentication): `auth = "users"` is a file
    /// that `vervet passwd` writes. Other requests get 401.
    ///
    /// ```toml
    /// auth = { realm = "staff", files = ["users", "guests"], users = { ann = "${ANN_HASH}" } }
    /// ```
    ///
    /// Passwords are stored as Argon2id or bcrypt hashes. A changed file is reloaded within a
    /// second; if it is invalid, the error is logged and the previous users stay.
    pub struct Auth short(files) {
        /// The realm, which browsers show in the password prompt.
        pub realm: Text = "restricted",
        /// User files with one `name:hash` per line. If a name occurs more than once, the first one
        /// counts, in the order of the files.
        pub files: Vec<Path>,
        /// Users and their hashes, as `vervet passwd` writes them. They take precedence over those
        /// of files.
        pub users: Named<Secret>,
        /// Whether to accept `{SHA}` hashes (unsalted SHA-1). Anyone who reads such a file can
        /// recover the passwords: replace them soon.
        pub old_hashes: bool = false,
        /// How many wrong passwords a client address may send, including passwords that are being
        /// verified; so this is also how many users of one address can log in at the same time.
        /// Requests above it get 429 with Retry-After.
        pub failures: Rate = "30/m",
    }
}

impl FilterDirective for Auth {
    /// The user files and their folders, for an edited file is replaced by another.
    fn needs(&self, needs: &mut Needs) {
        for file in self.files.iter() {
            needs.read(file, self.files.span());
            needs.read(file.parent().unwrap_or(file), self.files.span());
        }
    }

    fn open(&self, resources: &mut Resources<'_>, pipeline: &mut Pipeline) -> Opened {
        let start = || {
            Verifier::start(1).map_err(|error| {
                let message = format!("cannot start the thread that verifies passwords: {error}");
                Diagnostic::error(self.files.span(), message).into()
            })
        };
        let verifier = resources.keeper.keep_at("verifier".to_owned(), &(), start)?;
        let error_log = resources.error_log.clone();
        let report: ReportError =
            Arc::new(move |text| error_log.write(Level::Error, "auth", format_args!("{text}")));
        let open = || self.open_realm(&verifier, &report);
        let filter = resources.keeper.keep("auth", self, open)?;
        pipeline.filters.push(filter);
        Ok(())
    }
}

impl Auth {
    /// Opens the realm, reading its files, or returns all errors. `report` receives the files that
    /// break later.
    pub fn open_realm(
        &self,
        verifier: &Arc<Verifier>,
        report: &ReportError,
    ) -> Result<BasicAuth, Diagnostics> {
        let mut problems = Diagnostics::new();
        let old_hashes = if *self.old_hashes { OldHashes::Allowed } else { OldHashes::Refused };
        let users = self.inline(old_hashes, &mut problems);
        if self.files.is_empty() && self.users.is_empty() {
            let problem = Diagnostic::error(self.files.span(), "`auth` has no users");
            problems.push(problem.expected("`files`, `users` or both"));
        }
        let files = self.files.iter().map(|path| path.to_path_buf()).collect();
        let sources = UserSources { files, users, old_hashes };
        let users = Users::load(sources, Arc::clone(report)).map_err(|errors| {
            for error in errors {
                problems.push(Diagnostic::error(self.files.span(), error.to_string()));
            }
            std::mem::take(&mut problems)
        })?;
        let realm = BasicAuth::new(BasicAuthOptions {
            realm: self.realm.value().clone(),
            users,
            failures: *self.failures.value(),
            verifier: Arc::clone(verifier),
        });
        match realm {
            Ok(realm) if problems.is_empty() => Ok(realm),
            Ok(_) => Err(problems),
            Err(error) => {
                problems.push(Diagnostic::error(self.realm.span(), error.to_string()));
                Err(problems)
            }
        }
    }

    fn inline(
        &self,
        old_hashes: OldHashes,
        problems: &mut Diagnostics,
    ) -> Vec<(String, StoredHash)> {
        let mut users = Vec::new();
        for (name, hash) in self.users.iter() {
            let span = name.span();
            if let Err(error) = check_user_name(name) {
                let message = format!("`{}` is not a user name: {error}", name.escape_debug());
                problems.push(Diagnostic::error(span, message));
            }
            match StoredHash::parse(hash.reveal(), old_hashes) {
                Ok(hash) => users.push((name.value().clone(), hash)),
                Err(error) => {
                    let message =
                        format!("the password hash of `{}` cannot be used", name.escape_debug());
                    problems.push(Diagnostic::error(span, message).note(error.to_string()));
                }
            }
        }
        users
    }
}

#[cfg(test)]
mod tests {
    use vervet_config::read_text;
    use vervet_testkit::TempTree;

    use super::*;

    const OPEN: &str = "$argon2id$v=19$m=8,t=1,p=1$YcmRZudgb9r0v/CNE9qoGg$6YeRbniYssR2I6Rw12Ksbw";

    fn open(text: &str) -> Result<BasicAuth, Vec<String>> {
        let read = read_text::<Auth>("test.toml", text);
        let section = read.value.unwrap_or_else(|| panic!("{text}: {:?}", read.diagnostics));
        let report: ReportError = Arc::new(|error| panic!("{error}"));
        let realm = section.open_realm(&Arc::new(Verifier::start(1).unwrap()), &report);
        realm.map_err(|found| found.iter().map(|found| found.message.clone()).collect())
    }

    #[track_caller]
    fn check_refused(text: &str, expected: &[&str]) {
        let found = open(text).unwrap_err();
        let begins = found.len() == expected.len()
            && found.iter().zip(expected).all(|(found, expected)| found.starts_with(expected));
        assert!(begins, "{found:#?}");
    }

    #[test]
    fn all_that_is_wrong_is_said_at_once() {
        check_refused("", &["`auth` has no users"]);
        check_refused(
            "realm = \"a\\nb\"\nusers = { ann = \"$1\" }",
            &["the password hash of `ann` cannot be used", "the realm contains a control"],
        );
        check_refused(
            "users = { 'a:b' = 'secret' }",
            &["`a:b` is not a user name: the name contains a colon", "the password hash of `a:b`"],
        );
        let tree = TempTree::new().file("users", "ann:secret\n");
        let files = format!(
            "files = ['{}', '{}']",
            tree.join("users").display(),
            tree.join("none").display()
        );
        check_refused(&files, &["cannot use the user file", "cannot use the user file"]);
        check_refused(
            "users = { ann = '{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=' }",
            &["the password hash of `ann`"],
        );
    }

    #[test]
    fn a_realm_has_users_of_both_kinds() {
        let tree = TempTree::new().file("users", format!("ann:{OPEN}\n"));
        let file = tree.join("users");
        assert!(open(&format!("files = '{}'", file.display())).is_ok());
        assert!(
            open(&format!("users = {{ ann = '{OPEN}' }}\nrealm = 'a'\nfailures = '3/h'")).is_ok()
        );
        assert!(
            open("old_hashes = true\nusers = { ann = '{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=' }")
                .is_ok()
        );
    }

    /// `config show` and logs repeat no hash.
    #[test]
    fn entries_are_not_shown() {
        let section =
            read_text::<Auth>("test.toml", &format!("users = {{ ann = '{OPEN}' }}")).value.unwrap();
        assert!(!format!("{section:?}").contains("argon2id"));
    }
}
