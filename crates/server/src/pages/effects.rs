//! The effects of a page in addition to its text: status, headers, cookies and redirects.
//!
//! Templates call functions of their scope, which record the effects here; the renderer writes them
//! into the response head.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use minijinja::value::{Kwargs, Object, ObjectRepr, from_args};
use minijinja::{Error, ErrorKind, State, Value};
use vervet_http::field::FieldBlock;
use vervet_http::status::Status;

use crate::pages::set_cookie::{NewCookie, SameSite};
use crate::pages::target::{Reach, location};

/// Headers that a page cannot set, and the alternatives.
const NOT_SETTABLE: &[(&str, &str)] = &[
    ("set-cookie", "use set_cookie"),
    ("location", "use redirect"),
    ("date", "the server writes it"),
];

/// The effects that a rendering has requested.
#[derive(Debug, Default)]
pub(crate) struct Effects {
    pub(crate) status: Option<Status>,
    /// Fields in the order in which they were first set.
    pub(crate) fields: Vec<(String, String)>,
    /// Values of Set-Cookie.
    pub(crate) cookies: Vec<String>,
    /// Why the rendering was ended before the end of the template.
    pub(crate) stop: Option<Stop>,
}

/// An end of the rendering that is not a failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The client is redirected.
    Redirect { status: Status, location: String },
    /// A redirect to another site, which the template does not allow.
    LeadsOutside,
}

impl Effects {
    /// Whether nothing was asked for.
    fn is_empty(&self) -> bool {
        self.status.is_none()
            && self.fields.is_empty()
            && self.cookies.is_empty()
            && self.stop.is_none()
    }
}

/// The notes of one rendering, shared by the functions of its scope.
#[derive(Debug, Clone, Default)]
pub(crate) struct Notes(Arc<Mutex<Effects>>);

impl Notes {
    /// Takes what was noted, if anything was.
    pub(crate) fn take(&self) -> Option<Effects> {
        let mut effects = self.lock();
        (!effects.is_empty()).then(|| std::mem::take(&mut *effects))
    }

    // A rendering runs on one thread and no panic happens between two changes: the notes are sound
    // in any case.
    fn lock(&self) -> MutexGuard<'_, Effects> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A function of the scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ScopeFunction {
    Status,
    SetField,
    SetCookie,
    DeleteCookie,
    Redirect,
}

impl ScopeFunction {
    pub(crate) const ALL: [Self; 5] =
        [Self::Status, Self::SetField, Self::SetCookie, Self::DeleteCookie, Self::Redirect];

    /// The name in templates.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Status => "status",
            Self::SetField => "set_field",
            Self::SetCookie => "set_cookie",
            Self::DeleteCookie => "delete_cookie",
            Self::Redirect => "redirect",
        }
    }
}

/// A function with the notes that it writes to.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) function: ScopeFunction,
    pub(crate) notes: Notes,
}

impl Object for Function {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Plain
    }

    fn call(self: &Arc<Self>, _: &mut State<'_, '_>, args: &[Value]) -> Result<Value, Error> {
        let effects = &mut *self.notes.lock();
        match self.function {
            ScopeFunction::Status => status(effects, args),
            ScopeFunction::SetField => set_field(effects, args),
            ScopeFunction::SetCookie => set_cookie(effects, args),
            ScopeFunction::DeleteCookie => delete_cookie(effects, args),
            ScopeFunction::Redirect => redirect(effects, args),
        }?;
        // Shows as nothing, so that `{{ status(404) }}` can stand anywhere.
        Ok(Value::UNDEFINED)
    }
}

fn wrong(text: impl Into<std::borrow::Cow<'static, str>>) -> Error {
    Error::new(ErrorKind::InvalidOperation, text)
}

/// A status that a page may have: a final one of the four classes.
fn page_status(code: u16) -> Result<Status, Error> {
    match Status::new(code) {
        Some(status) if (200..600).contains(&code) => Ok(status),
        _ => Err(wrong(format!("invalid status {code}: expected 200 to 599"))),
    }
}

fn status(effects: &mut Effects, args: &[Value]) -> Result<(), Error> {
    let (code,): (u16,) = from_args(args)?;
    effects.status = Some(page_status(code)?);
    Ok(())
}

fn set_field(effects: &mut Effects, args: &[Value]) -> Result<(), Error> {
    let (name, value): (&str, &Value) = from_args(args)?;
    let value = value.to_string();
    if let Some((name, instead)) =
        NOT_SETTABLE.iter().find(|(known, _)| known.eq_ignore_ascii_case(name))
    {
        return Err(wrong(format!("{name} cannot be set with set_field: {instead}")));
    }
    let checked = FieldBlock::new().push(name.as_bytes(), value.as_bytes());
    checked.map_err(|fault| wrong(format!("the header {name:?} cannot be set: {fault}")))?;
    match effects.fields.iter_mut().find(|(known, _)| known.eq_ignore_ascii_case(name)) {
        Some((_, old)) => *old = value,
        None => effects.fields.push((name.to_owned(), value)),
    }
    Ok(())
}

fn set_cookie(effects: &mut Effects, args: &[Value]) -> Result<(), Error> {
    let (name, value, options): (&str, &Value, Kwargs) = from_args(args)?;
    let value = value.to_string();
    let plain = NewCookie::new(name, &value);
    let same_site = match options.get::<Option<&str>>("same_site")? {
        None => plain.same_site,
        Some(word) => SameSite::parse(word).ok_or_else(|| {
            wrong(format!("invalid same_site {word:?}: expected strict, lax or none"))
        })?,
    };
    let cookie = NewCookie {
        max_age: options.get("max_age")?,
        path: options.get::<Option<&str>>("path")?.unwrap_or(plain.path),
        domain: options.get("domain")?,
        same_site,
        http_only: options.get::<Option<bool>>("http_only")?.unwrap_or(plain.http_only),
        secure: options.get::<Option<bool>>("secure")?.unwrap_or(plain.secure),
        ..plain
    };
    options.assert_all_used()?;
    push_cookie(effects, &cookie)
}

fn delete_cookie(effects: &mut Effects, args: &[Value]) -> Result<(), Error> {
    let (name, options): (&str, Kwargs) = from_args(args)?;
    let plain = NewCookie::deleted(name);
    let cookie = NewCookie {
        path: options.get::<Option<&str>>("path")?.unwrap_or(plain.path),
        domain: options.get("domain")?,
        ..plain
    };
    options.assert_all_used()?;
    push_cookie(effects, &cookie)
}

fn push_cookie(effects: &mut Effects, cookie: &NewCookie<'_>) -> Result<(), Error> {
    let value = cookie.field_value().map_err(|fault| wrong(fault.to_string()))?;
    effects.cookies.push(value);
    Ok(())
}

fn redirect(effects: &mut Effects, args: &[Value]) -> Result<(), Error> {
    let (to, options): (&str, Kwargs) = from_args(args)?;
    let code = options.get::<Option<u16>>("status")?.unwrap_or(Status::SEE_OTHER.code());
    let reach = match options.get::<Option<bool>>("external")? {
        Some(true) => Reach::Anywhere,
        Some(false) | None => Reach::Site,
    };
    options.assert_all_used()?;
    let status = page_status(code)?;
    if !matches!(code, 301 | 302 | 303 | 307 | 308) {
        return Err(wrong(format!(
            "invalid redirect status {code}: expected 301, 302, 303, 307 or 308"
        )));
    }
    effects.stop = Some(match location(to, reach) {
        Some(location) => Stop::Redirect { status, location },
        None => Stop::LeadsOutside,
    });
    // Ends the rendering; the renderer finds the stop and takes this for no failure.
    Err(wrong("the page redirects"))
}
