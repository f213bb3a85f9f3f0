//! Published test T3 by packet sockets, and as an ordinary user: what no experiment file says is who runs it.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::arguments::Arguments;
use super::check;
use crate::failure::Failure;
use crate::figure::Figure;
use crate::part::{Context, Part};
use crate::product::Product;

/// With the packet dataplane.
pub(super) const PACKET: Part<Arguments> = Part::new("t3-packet", "T3, packet dataplane, root", |context| {
    check::checked(context, T3, context.product, &["--dataplane", "packet", "--rate", &context.arguments.packet_rate])
});
/// As an ordinary user: in a user namespace, where there are packet sockets alone.
pub(super) const USER: Part<Arguments> =
    Part { tools: &[("setpriv", "util-linux")], ..Part::new("t3-user", "T3, ordinary user", as_ordinary_user) };

const T3: &str = "t3-four-links";
/// User and group id of the ordinary user.
const NOBODY: u32 = 65_534;

/// From a copy: the build folder may be closed to others.
fn as_ordinary_user(context: &Context<'_, Arguments>) -> Result<Vec<Figure>, Failure> {
    let binary = context.scratch.path().join("nicteam");
    let copied = fs::copy(&context.product.binary, &binary);
    let copied = copied.and_then(|_| fs::set_permissions(&binary, fs::Permissions::from_mode(0o755)));
    copied.map_err(|error| Failure::failed(format!("cannot copy nicteam to {}: {error}", binary.display())))?;
    let product = Product { binary, as_user: Some(NOBODY) };
    check::checked(context, T3, &product, &["--rate", &context.arguments.packet_rate])
}
